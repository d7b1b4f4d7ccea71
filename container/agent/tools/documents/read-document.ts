import { basename } from "node:path";

import * as z from "zod";

import { withoutOwnElements } from "../../../../src/lib/text/own-elements.ts";
import { limits } from "../../../../src/protocol/limits.ts";
import type { CallEnvironment, ContainerToolOutput } from "../tool.ts";
import { runReader } from "./run-reader.ts";

/** Which part of a document is asked for. */
export interface DocumentSpan {
  readonly page: number;
  readonly firstLine: number;
  readonly lines: number;
}

/** Room for the first lines and the last one. */
const maxChars = limits.toolOutputChars - 4_000;

/** The program's output. */
const found = z.object({
  kind: z.string(),
  unit: z.string(),
  count: z.number(),
  names: z.array(z.string()),
  notes: z.array(z.string()),
  pages: z.array(z.object({ page: z.number(), lines: z.array(z.tuple([z.number(), z.string()])) })),
  next: z.object({ page: z.number(), line: z.number() }).nullable(),
  skipped: z.number(),
});

type Found = z.infer<typeof found>;

/**
 * The text of a document from a page and line on, as far as a result has room; each part says which it is, and the end
 * where to go on.
 */
export async function readDocument(
  path: string,
  { page, firstLine, lines }: DocumentSpan,
  { environment, signal }: CallEnvironment,
): Promise<string> {
  const numbers = [page, firstLine, lines, maxChars].map(String);
  const printed = await runReader(["text", path, ...numbers], { env: environment, signal });
  const document = found.parse(JSON.parse(printed.toString("utf8")));
  const shown = document.pages.flatMap((one) => [...heading(document, one.page), ...linesOf(document, one)]);
  return [introduction(document), ...shown, ...ending(document)].map(withoutOwnElements).join("\n");
}

/** A page of a PDF as people see it. */
export async function showPage(path: string, page: number, place: CallEnvironment): Promise<ContainerToolOutput> {
  const { environment, signal, files } = place;
  const picture = await runReader(["picture", path, String(page), "1", "1", "1"], { env: environment, signal });
  const name = `${basename(path).toWellFormed().slice(0, 200)}, page ${page}`;
  const output = `${path}, page ${page} (image/jpeg, ${picture.length} bytes):`;
  return { output, isError: false, parts: [{ kind: "image", file: files.add(picture), name }] };
}

/** Says what the text is: that of a file, of which people may see another part than a program does. */
function introduction({ kind, unit, count, names, notes }: Found): string {
  const parts = unit === "part" ? "" : `, ${count} ${unit}${count === 1 ? "" : "s"}`;
  const named = names.length === 0 ? "" : `: ${names.map((name, index) => `${index + 1} ${oneLine(name)}`).join(", ")}`;
  const more = count > names.length && names.length > 0 ? ", …" : "";
  const besides = notes.map((note) => `; ${note}`).join("");
  return `[${kind}${parts}${named}${more}${besides}; what follows is text of the file, also where nobody sees it]`;
}

function heading({ unit, count, names }: Found, page: number): string[] {
  if (unit === "part") return [];
  const name = names[page - 1];
  return [`[${unit} ${page} of ${count}${name === undefined ? "" : `: ${oneLine(name)}`}]`];
}

function linesOf(document: Found, { page, lines }: Found["pages"][number]): string[] {
  const { kind, next, skipped } = document;
  if (lines.length > 0) return lines.map(([number, text]) => `${String(number).padStart(6)}\t${text}`);
  if (next?.page === page) return [];
  if (skipped > 0 && page === document.pages[0]?.page) return ["[no more lines]"];
  return [
    kind === "PDF" ? `[no text: perhaps a scan; read_file with page ${page} and picture true shows it]` : "[empty]",
  ];
}

function ending({ unit, next }: Found): string[] {
  if (next === null) return [];
  const places = [unit === "part" ? "" : `page ${next.page}`, next.line === 1 ? "" : `offset ${next.line}`];
  return [`[there is more, go on with ${places.filter((place) => place !== "").join(" and ")}]`];
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}
