import type { Inline } from "../../markdown/blocks.ts";

const marks = { strong: "*", emphasis: "_", struck: "~" } as const;
type Emphasis = keyof typeof marks;
type Emphasized = Extract<Inline, { readonly mark: string }>;

/** Letters and digits beside which WhatsApp sees no mark, as in `2*3*4`. */
const inWord = /[\p{scx=Latin}\p{scx=Greek}\p{scx=Cyrillic}\p{N}_]/u;

/** Pieces of a line as WhatsApp has them. `around`: emphasis that they stand in already. */
export function writeInlines(inlines: readonly Inline[], around: readonly Emphasis[] = []): string {
  return inlines
    .map((each, index) => {
      if (!("mark" in each)) return writeOne(each, around);
      const [before, after] = [textOf(inlines[index - 1]), textOf(inlines[index + 1])];
      return writeEmphasis(each, { before, after, around });
    })
    .join("");
}

function textOf(inline: Inline | undefined): string {
  return inline?.kind === "text" ? inline.text : "";
}

function writeOne(inline: Exclude<Inline, Emphasized>, around: readonly Emphasis[]): string {
  if (inline.kind === "break") return "\n";
  if ("inner" in inline) return writeAddress(inline.url, writeInlines(inline.inner, around));
  return inline.kind === "text" ? inline.text : `\`${inline.text.replaceAll("`", "'")}\``;
}

function writeAddress(url: string, label: string): string {
  if (label === "" || label === url) return url;
  return `mailto:${label}` === url ? label : `${label} (${url})`;
}

interface Beside {
  readonly before: string;
  readonly after: string;
  readonly around: readonly Emphasis[];
}

function writeEmphasis({ kind, mark, inner }: Emphasized, { before, after, around }: Beside): string {
  const text = writeInlines(inner, [...around, kind]);
  const isInWord = inWord.test(before.slice(-1)) || inWord.test(after.slice(0, 1));
  if (isInWord || isPythonName(mark, text, after)) return mark + text + mark;
  return around.includes(kind) ? text : marks[kind] + text + marks[kind];
}

/** True for `__init__.py` and `__call__(x)`, which nobody means to be bold. */
function isPythonName(mark: string, text: string, after: string): boolean {
  return mark === "__" && /^\w+$/.test(text) && /^(?:\.\w|[([])/.test(after);
}
