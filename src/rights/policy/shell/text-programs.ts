/** Effects of a `sed` or `awk` program besides printing. `unsure`: not understood. */
export type Deeds =
  | { readonly kind: "prints" }
  | { readonly kind: "runs" }
  | { readonly kind: "writes"; readonly path: string }
  | { readonly kind: "unsure" };

const address = String.raw`(?:\d+(?:~\d+)?|\$|\+\d+|~\d+|\/(?:[^/\\\n]|\\.)*\/[IM]*)`;
const addresses = new RegExp(String.raw`^(?:${address}(?:\s*,\s*${address})?)?\s*!?\s*`, "s");
const plainCommand = /^(?:[={}dDgGhHnNpPxzF]|[lqQ]\s*\d*|[btT:]\s*[\w.-]*|[aic](?:\\\n|[ \t\\])[^\n]*|#[^\n]*)/;

/**
 * `sed` programs of addresses and of commands that print or change lines; what else there is shows at its first letter.
 */
export function readSed(program: string): Deeds {
  let rest = program;
  for (;;) {
    rest = rest.replace(/^[\s;]+/, "");
    if (rest === "") return { kind: "prints" };
    rest = rest.replace(addresses, "");
    const found = plainCommand.exec(rest)?.[0] ?? readSubstitution(rest);
    if (typeof found !== "string") return found ?? readOtherSed(rest);
    rest = rest.slice(found.length);
  }
}

function readOtherSed(rest: string): Deeds {
  if (rest.startsWith("e")) return { kind: "runs" };
  const [, path] = /^[wW]\s*([^\n]*)/.exec(rest) ?? [];
  return path === undefined ? { kind: "unsure" } : { kind: "writes", path };
}

const delimited = /^[sy]([^\s\\])(?:(?!\1)[^\\]|\\.)*\1(?:(?!\1)[^\\]|\\.)*\1/s;

/** `s/a/b/g` or `y/a/b/`: the text of it, or what its flags do. */
function readSubstitution(rest: string): string | Deeds | undefined {
  const [text] = delimited.exec(rest) ?? [];
  if (text === undefined) return undefined;
  const flags = /^[gpiIM\d]*/.exec(rest.slice(text.length))?.[0] ?? "";
  const behind = rest.slice(text.length + flags.length);
  return /^(?:$|[\s;}#])/.test(behind) ? text + flags : readOtherSed(behind);
}

/** `awk` programs: writing or running needs a `print`, or a keyword. */
export function readAwk(program: string): Deeds {
  const pipes = program.replaceAll("||", "  ");
  const printing = /print.*/s.exec(pipes)?.[0] ?? "";
  if (/system/.test(program) || /\|&?\s*"/.test(printing)) return { kind: "runs" };
  if (/getline/.test(program)) return pipes.includes("|") ? { kind: "runs" } : { kind: "unsure" };
  return /[>|]/.test(printing) || program.includes("@") ? { kind: "unsure" } : { kind: "prints" };
}
