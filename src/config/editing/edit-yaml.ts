import { isDeepStrictEqual } from "node:util";

import { isAlias, isCollection, isMap, isScalar, isSeq, parseDocument } from "yaml";
import type { Document, Node, YAMLMap, YAMLSeq } from "yaml";

import type { SettingEdit, SettingPath } from "../../domain/settings/setting.ts";
import { AppError, toError } from "../../lib/app-error.ts";
import { formatPath } from "../faults.ts";
import { parseYaml, yamlOptions } from "../loading/config-file.ts";
import { valueAfter } from "./value-after.ts";

type Collection = YAMLMap | YAMLSeq;

/**
 * The text with one setting changed: comments, order and style of everything else stay. Throws AppErrors:
 * `config_invalid` for a text that is not valid YAML, `not_found` when there is nothing to remove, `conflict` where the
 * place cannot be changed without changing others, `bad_input` for a place that cannot be.
 */
export function editYaml(text: string, edit: SettingEdit): string {
  const before = parse(text);
  const expected = valueAfter(before, edit);
  const document = parseDocument(text, yamlOptions);
  try {
    apply(document, text, edit);
    const next = document.toString({ lineWidth: 0 });
    if (isDeepStrictEqual(parse(next), expected)) return next;
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw byHand(edit.path, toError(error));
  }
  // An anchor, say: its value is used elsewhere.
  throw byHand(edit.path);
}

function parse(text: string): unknown {
  const { value, faults } = parseYaml(text);
  const [fault] = faults;
  if (fault) throw new AppError("config_invalid", `config.yaml cannot be changed: ${fault.detail}`);
  return value;
}

function apply(document: Document, text: string, { path, value }: SettingEdit): void {
  const parent = value === undefined ? collectionAt(document, path.slice(0, -1)) : makeParent(document, path);
  const key = path.at(-1);
  if (!parent || key === undefined) throw byHand(path);
  const old = parent.get(key, true);
  keepLooseComments(parent, key, text);
  if (value === undefined) remove(document, parent, key);
  else parent.set(key, replacement(document, old, value));
}

/** Removes a key. A comment above it, separated by an empty line, stays. */
function remove(document: Document, parent: Collection, key: string | number): void {
  if (isMap(parent)) {
    const index = parent.items.findIndex(({ key: name }) => isScalar(name) && name.value === key);
    const [name, next] = [parent.items[index]?.key, parent.items[index + 1]?.key];
    const said = isScalar(name) ? (name.commentBefore ?? "") : "";
    const apart = said.slice(0, Math.max(0, said.lastIndexOf("\n\n")));
    const heir = isScalar(next) ? next : parent === document.contents ? document : parent;
    if (apart !== "") heir.commentBefore = joined(apart, heir.commentBefore ?? "", heir === document);
  }
  parent.delete(key);
}

/** Apart from the next key also where nothing is said about that: otherwise it would go with it. */
function joined(apart: string, own: string, isDocument: boolean): string {
  if (own !== "") return `${apart}\n\n${own}`;
  return isDocument ? apart : `${apart}\n`;
}

/** Makes the sections on the way that are missing, or have nothing in them. */
function makeParent(document: Document, path: SettingPath): Collection | undefined {
  for (let depth = 0; depth < path.length; depth += 1) {
    const above = path.slice(0, depth);
    const node = document.getIn(above, true);
    if (isAlias(node)) return undefined;
    if (isCollection(node)) continue;
    const made = document.createNode({});
    if (isScalar(node)) carryComments(node, made);
    if (depth === 0) document.contents = made;
    else collectionAt(document, above.slice(0, -1))?.set(above.at(-1), made);
  }
  return collectionAt(document, path.slice(0, -1));
}

function collectionAt(document: Document, path: SettingPath): Collection | undefined {
  const node = path.length === 0 ? document.contents : document.getIn(path, true);
  return isMap(node) || isSeq(node) ? node : undefined;
}

/** A value in the place of another one keeps what is said beside it, and how it is quoted. */
function replacement(document: Document, old: Node | undefined, value: unknown): Node {
  if (isScalar(old) && (typeof value !== "object" || value === null)) {
    old.value = value;
    // The form in which another number was written is not that of this one.
    delete old.source;
    delete old.format;
    delete old.minFractionDigits;
    // Nor is a block of lines that of every text: not of an empty one.
    if (typeof value !== "string" || old.type?.startsWith("BLOCK_") === true) delete old.type;
    return old;
  }
  const made = document.createNode(value, { flow: true });
  if (old && !isAlias(old)) carryComments(old, made);
  return made;
}

function carryComments(from: Node, to: Node): void {
  to.commentBefore = from.commentBefore ?? null;
  if (isScalar(from)) to.comment = from.comment ?? null;
}

/** Keeps comments after a section's last key that are less indented; the parser attaches them to the key's value. */
function keepLooseComments(parent: Collection, key: string | number, text: string): void {
  if (!isMap(parent) || parent.flow === true) return;
  const { key: name, value } = parent.items.at(-1) ?? {};
  if (!isScalar(name) || name.value !== key || !isCollection(value)) return;
  const [start, end] = [name.range?.[0] ?? 0, value.range?.[2] ?? 0];
  const indent = start - (text.lastIndexOf("\n", start - 1) + 1);
  const loose = commentsAtEnd(text.slice(0, end), indent);
  if (loose.length > 0) parent.comment = [parent.comment, ...loose].filter((said) => said).join("\n");
}

/** The comment lines behind the last value of a text that are indented no deeper than this. */
function commentsAtEnd(text: string, indent: number): string[] {
  const found: string[] = [];
  for (const line of text.trimEnd().split("\n").toReversed()) {
    const comment = /^( *)#(.*)$/.exec(line);
    if (line.trim() !== "" && (comment?.[1] ?? line).length > indent) break;
    if (comment) found.unshift(comment[2] ?? "");
    else if (line.trim() !== "") break;
  }
  return found;
}

function byHand(path: SettingPath, cause?: Error): AppError {
  return new AppError(
    "conflict",
    `${formatPath(path)} cannot be changed by itself: config.yaml uses an anchor or an alias there.`,
    {
      cause,
      fix: "Edit the file.",
    },
  );
}
