/** A piece of a line. Marks of emphasis keep how they were written, for where a platform cannot show them. */
export type Inline =
  | { readonly kind: "text" | "code"; readonly text: string }
  | { readonly kind: "break" }
  | { readonly kind: "strong" | "emphasis" | "struck"; readonly mark: string; readonly inner: readonly Inline[] }
  | { readonly kind: "link" | "image"; readonly url: string; readonly inner: readonly Inline[] };

/** Thing that a block stands in; the outermost one comes first. */
export type Container =
  | { readonly kind: "quote" }
  /** `marker`: `-`, or a number as in `2.`; `isFirst`: the block begins the item. */
  | { readonly kind: "item"; readonly marker: string; readonly isFirst: boolean };

export type BlockContent =
  | { readonly kind: "paragraph" | "heading"; readonly text: readonly Inline[] }
  /** `code` without the line feed at its end. */
  | { readonly kind: "code"; readonly code: string; readonly language: string }
  | { readonly kind: "table"; readonly rows: readonly (readonly (readonly Inline[])[])[] }
  | { readonly kind: "rule" };

/** A block of an answer that holds no other block. */
export type Block = BlockContent & {
  readonly within: readonly Container[];
  /** True when blank lines stand before it. */
  readonly isApart: boolean;
};

/** Characters of these pieces, without marks and addresses. */
export function plainText(inlines: readonly Inline[]): string {
  return inlines
    .map((each) => ("text" in each ? each.text : each.kind === "break" ? "\n" : plainText(each.inner)))
    .join("");
}
