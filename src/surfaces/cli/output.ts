import type { Writable } from "node:stream";

import { createColors } from "picocolors";

import { columnsOf, cutToColumns } from "../../lib/text/columns.ts";
import { escapeJson, visible, visibleLines } from "../../lib/text/visible.ts";
import type { Column } from "../../operations/definition/cli-leaf.ts";

export interface OutputOptions {
  readonly stream: Writable;
  /** One JSON object per line, nothing else. */
  readonly json: boolean;
  /** A terminal gets tables and colours; a pipe gets columns divided by tabs. */
  readonly isTerminal: boolean;
  readonly colors: boolean;
  /** Width of the terminal in characters, if it is known. */
  readonly width?: number | undefined;
}

export type Tone = "good" | "bad" | "dim" | "bold";

/** Output of a command. Everything may come from a stranger: nothing can control the terminal. */
export class Output {
  readonly json: boolean;
  readonly #stream: Writable;
  readonly #isTerminal: boolean;
  readonly #colors: ReturnType<typeof createColors>;
  readonly #width: number | undefined;

  constructor(options: OutputOptions) {
    this.json = options.json;
    this.#stream = options.stream;
    this.#isTerminal = options.isTerminal;
    this.#colors = createColors(options.colors);
    this.#width = options.width;
  }

  object(value: object): void {
    this.#stream.write(`${escapeJson(JSON.stringify(value))}\n`);
  }

  /** A line for eyes; not printed with `--json`. */
  line(text: string, tone?: Tone): void {
    if (!this.json) this.#stream.write(`${this.#paint(visibleLines(text), tone)}\n`);
  }

  /** Each item as an object with `--json`, otherwise a table, or the sentence if there are none. */
  items<Item extends object>(items: readonly Item[], columns: readonly Column<Item>[], none: string): void {
    if (this.json) {
      for (const item of items) this.object(item);
    } else if (items.length === 0) {
      this.line(none);
    } else {
      const rows = items.map((item) => columns.map((column) => visible(String(column.of(item) ?? ""))));
      const titles = columns.map((column) => column.title);
      this.#stream.write(this.#isTerminal ? this.#table(titles, this.#fit(columns, rows)) : tabbed([titles, ...rows]));
    }
  }

  /** One object with `--json`, otherwise one line per pair; pairs without a value are left out. */
  facts(value: object, pairs: readonly (readonly [string, string | number | undefined])[]): void {
    if (this.json) {
      this.object(value);
      return;
    }
    const shown = pairs.filter(([, fact]) => fact !== undefined && fact !== "");
    const width = Math.max(...shown.map(([name]) => name.length));
    for (const [name, fact] of shown) {
      this.#stream.write(`${this.#paint(name.padEnd(width), "dim")}  ${visible(String(fact))}\n`);
    }
  }

  #paint(text: string, tone: Tone | undefined): string {
    switch (tone) {
      case "good":
        return this.#colors.green(text);
      case "bad":
        return this.#colors.red(text);
      case "dim":
        return this.#colors.dim(text);
      case "bold":
        return this.#colors.bold(text);
      case undefined:
        return text;
    }
    return text;
  }

  /** Cuts the cells of columns that say so. */
  #fit<Item>(columns: readonly Column<Item>[], rows: readonly string[][]): string[][] {
    const short = rows.map((row) => row.map((cell, index) => cell.slice(0, columns[index]?.shownChars)));
    const filling = columns.findIndex(({ fills }) => fills === true);
    if (this.#width === undefined || filling < 0) return short;
    const others = columns.map(({ title }, index) => {
      const widest = Math.max(...[title, ...short.map((row) => row[index] ?? "")].map(columnsOf));
      return index === filling ? 0 : widest + columnGap;
    });
    const left = this.#width - columnGap - others.reduce((sum, width) => sum + width, 0);
    return short.map((row) => row.with(filling, cutToColumns(row[filling] ?? "", Math.max(left, leastFilled))));
  }

  #table(titles: readonly string[], rows: readonly string[][]): string {
    const widths = titles.map((title, index) =>
      Math.max(...[title, ...rows.map((row) => row[index] ?? "")].map(columnsOf)),
    );
    const head = aligned(titles, widths).map((title) => this.#paint(title, "bold"));
    return [head, ...rows.map((row) => aligned(row, widths))].map((cells) => `${cells.join("").trimEnd()}\n`).join("");
  }
}

const columnGap = 2;
/** Less than this of a text says nothing: lines rather become longer than the terminal is wide. */
const leastFilled = 20;

/** Each cell with what its column needs to be as wide as its widest, and the gap. */
function aligned(cells: readonly string[], widths: readonly number[]): string[] {
  return cells.map((cell, index) => cell + " ".repeat((widths[index] ?? 0) - columnsOf(cell) + columnGap));
}

function tabbed(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.join("\t")}\n`).join("");
}
