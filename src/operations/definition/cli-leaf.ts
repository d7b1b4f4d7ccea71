import type * as z from "zod";

/** A column of a table: its title, and the cell for an item. */
export interface Column<Item> {
  readonly title: string;
  readonly of: (item: Item) => string | number | boolean | undefined;
  /** Characters of a cell that a terminal shows. */
  readonly shownChars?: number;
  /** In a terminal it gets what the other columns leave of the width, and is cut there. For one column of a table. */
  readonly fills?: boolean;
}

/** A field of an item as a column. Titles and cells come from its name and schema. */
export interface FieldColumn<Item> {
  readonly field: keyof Item & string;
  readonly title?: string;
  readonly shownChars?: number;
  readonly fills?: boolean;
  /** Long texts are shortened, in a pipe as well. */
  readonly short?: true;
}

/** An item of an output that is a list. */
export type ItemOf<Answer> = Answer extends readonly (infer Item)[] ? Item : never;

/** A column by the name of its field, or with more about it. */
export type TableColumn<Item> = (keyof Item & string) | FieldColumn<Item> | Column<Item>;

/**
 * The command of an operation. Options come from the parameters, their help from the descriptions, and an answer is
 * printed as a table of its short fields, or as its fields, one a line, where nothing here says otherwise.
 */
export interface CliLeaf<Input extends z.ZodType, Output extends z.ZodType> {
  /** Words behind `crabpot`; absent: those of the operation's name. */
  readonly command?: string;
  /** Its help; absent: the operation's summary. */
  readonly help?: string;
  /** Parameters that are words without an option, in order. */
  readonly args?: readonly (keyof z.input<Input> & string)[];
  /** Parameters that this command sets, instead of its caller. */
  readonly sets?: Partial<z.input<Input>>;
  /** Parameters that this command lacks. */
  readonly without?: readonly (keyof z.input<Input> & string)[];
  /** Parameters that this command gives where its caller gives none. */
  readonly defaults?: Partial<z.input<Input>>;
  /** The last of `args`: it takes all further words, one a line. */
  readonly rest?: keyof z.input<Input> & string;
  /** Parameters that the option `--yes` gives. */
  readonly yes?: Partial<z.input<Input>>;
  /** Printed of the answer: items, or one object; absent: all of it. */
  shows?(answer: z.output<Output>): object | readonly object[];
  /** Columns of a list; absent: those of short fields. */
  readonly table?: readonly TableColumn<ItemOf<z.output<Output>>>[];
  /** Printed instead of an empty table. */
  none?(given: z.input<Input>): string;
  /** Printed instead of the answer. */
  say?(answer: z.output<Output>, given: z.input<Input>): string;
  /** True when the command ends with 1 because of this answer. */
  fails?(answer: z.output<Output>): boolean;
}

/** The command of any operation. */
export interface AnyCliLeaf {
  readonly command?: string;
  readonly help?: string;
  readonly args?: readonly string[];
  readonly sets?: object;
  readonly without?: readonly string[];
  readonly defaults?: object;
  readonly rest?: string;
  readonly yes?: object;
  shows?(answer: never): object | readonly object[];
  readonly table?: readonly TableColumn<never>[];
  none?(given: never): string;
  say?(answer: never, given: never): string;
  fails?(answer: never): boolean;
}
