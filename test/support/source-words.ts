import { type Program, Visitor } from "oxc-parser";

import { parseSource } from "./parse-source.ts";

/** A name that a file exports by a declaration, not by passing on another file's. */
export interface ExportedName {
  readonly file: string;
  readonly name: string;
}

/** The words of a source file, from its syntax tree. */
export interface FileWords {
  /** Doc comments, each as one line of text. */
  readonly docs: readonly string[];
  /** All comments and strings, each as one line of text. */
  readonly texts: readonly string[];
  readonly exported: readonly ExportedName[];
}

/** Reads the words of a source file. */
export function readWords(file: string, source: string): FileWords {
  const { comments, program } = parseSource(file, source);
  const blocks = comments.map(({ value }) => value.replaceAll(/\s*\n\s*\*?\s*/g, " ").trim());
  const docs = comments.flatMap(({ type, value }, place) =>
    type === "Block" && value.startsWith("*") ? [blocks[place]?.replace(/^\*\s*/, "") ?? ""] : [],
  );
  const texts = [...blocks, ...stringsIn(program).map((text) => text.replaceAll(/\s+/g, " "))];
  return { docs, texts, exported: namesExportedBy(program.body).map((name) => ({ file, name })) };
}

function namesExportedBy(body: Program["body"]): string[] {
  const names = body.flatMap((statement) => {
    if (statement.type !== "ExportNamedDeclaration" || !statement.declaration) return [];
    const { declaration } = statement;
    if (declaration.type === "VariableDeclaration")
      return declaration.declarations.flatMap(({ id }) => (id.type === "Identifier" ? [id.name] : []));
    return "id" in declaration && declaration.id?.type === "Identifier" ? [declaration.id.name] : [];
  });
  return [...new Set(names)];
}

let strings: string[] = [];
const stringVisitor = new Visitor({
  Literal: ({ value }) => void (typeof value === "string" && strings.push(value)),
  TemplateElement: ({ value }) => void strings.push(value.raw),
});

function stringsIn(program: Program): string[] {
  strings = [];
  stringVisitor.visit(program);
  return strings;
}
