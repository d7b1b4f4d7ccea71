/* Makes what the library takes of what servers send beside the protocol, and mean all the same. */

import { isJsonObject } from "../../../lib/text/parse-json.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Mark of a tool that cannot be offered, in its schema, with the reason: one bad tool must not cost the whole list. */
export const refusedTool = "crabpot:refused";

/** Code of an error of which a server does not say one (JSON-RPC 2.0, "server error"). */
const unknownError = -32_000;
const noReason = "the server gave no reason for its error";

/** Returns an answer with an error that is one, or without, and a result that is an object. */
export function mendEnvelope(message: unknown): unknown {
  if (!isJsonObject(message) || !("id" in message)) return message;
  const { error, result, ...rest } = message;
  if (error !== null && error !== undefined) return { ...rest, error: mendError(error) };
  return "result" in message
    ? { ...rest, result: isJsonObject(result) ? withoutNulls(result) : { content: result } }
    : message;
}

function mendError(error: unknown): Fields {
  const { code, message, ...rest } = isJsonObject(error) ? error : { code: undefined, message: error };
  const number = typeof code === "number" && Number.isInteger(code) ? code : unknownError;
  return { ...rest, code: number, message: wordsOf(message) || noReason };
}

/** Returns the result of a request of this method. */
export function mendResult(method: string, result: Fields): Fields {
  return mends[method]?.(result) ?? result;
}

const mends: Readonly<Record<string, (result: Fields) => Fields>> = {
  initialize: greeting,
  "tools/list": (result) => ({ ...page(result), tools: listOf(result["tools"]).map(tool) }),
  "resources/list": (result) => ({ ...page(result), resources: listOf(result["resources"]).map(withoutNulls) }),
  "prompts/list": (result) => ({ ...page(result), prompts: listOf(result["prompts"]).map(withoutNulls) }),
  "tools/call": callResult,
};

function greeting(result: Fields): Fields {
  const { capabilities, serverInfo, ...rest } = withoutNulls(result);
  const { name, version } = isJsonObject(serverInfo) ? serverInfo : {};
  return {
    ...rest,
    capabilities: capabilitiesOf(capabilities),
    serverInfo: { ...(isJsonObject(serverInfo) && serverInfo), name: wordsOf(name), version: wordsOf(version) },
  };
}

function capabilitiesOf(capabilities: unknown): Fields {
  if (!isJsonObject(capabilities)) return {};
  const named = Object.entries(capabilities).filter(([, value]) => value !== false);
  // `null` and `true` stand for "without more".
  return Object.fromEntries(named.map(([name, value]) => [name, isJsonObject(value) ? withoutNulls(value) : {}]));
}

/** Without a cursor that says "there is no more". */
function page(result: Fields): Fields {
  const { nextCursor, ...rest } = withoutNulls(result);
  return typeof nextCursor === "string" && nextCursor !== "" ? { ...rest, nextCursor } : rest;
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? (value as readonly unknown[]).filter(isJsonObject) : [];
}

function tool(item: Fields): Fields {
  const { name, description, outputSchema, inputSchema, ...rest } = withoutNulls(item);
  return {
    ...rest,
    name: wordsOf(name),
    ...(typeof description === "string" && { description }),
    inputSchema: argumentsOf(inputSchema),
    ...(isJsonObject(outputSchema) &&
      outputSchema["type"] === "object" && { outputSchema: withoutNulls(outputSchema) }),
  };
}

/** A schema without a type describes an object, since arguments always are one. */
function argumentsOf(schema: unknown): Fields {
  if (schema !== undefined && !isJsonObject(schema)) return refused("its inputSchema is not an object");
  const { type = "object", ...rest } = withoutNulls(schema ?? {});
  return type === "object" ? { ...rest, type } : refused("its arguments are not an object");
}

function refused(reason: string): Fields {
  return { type: "object", [refusedTool]: reason };
}

/** Makes a result of all that can be read of it: what the call has done is done. */
function callResult(result: Fields): Fields {
  const { content, structuredContent, isError, ...rest } = withoutNulls(result);
  const blocks = Array.isArray(content) ? (content as readonly unknown[]).map(block) : blocksOf(content);
  const isMapping = isJsonObject(structuredContent);
  const data = structuredContent === undefined || isMapping ? [] : [textOf(structuredContent)];
  const isBare = content === undefined && structuredContent === undefined && Object.keys(rest).length > 0;
  return {
    ...(isBare ? {} : rest),
    content: [...blocks, ...data, ...(isBare ? [textOf(rest)] : [])],
    ...(isMapping && { structuredContent }),
    ...(isError !== undefined && { isError: isError === true || isError === "true" }),
  };
}

function blocksOf(content: unknown): readonly Fields[] {
  if (content === undefined) return [];
  return [isJsonObject(content) ? block(content) : textOf(content)];
}

const namedIn: Readonly<Record<string, readonly string[]>> = {
  text: ["text"],
  image: ["data", "mimeType"],
  audio: ["data", "mimeType"],
  resource: ["resource"],
  resource_link: ["uri", "name"],
};

function block(item: unknown): Fields {
  if (!isJsonObject(item)) return textOf(item);
  const { type, ...rest } = withoutNulls(item);
  const kind = wordsOf(type);
  const isWhole = namedIn[kind]?.every((name) => (name === "resource" ? isJsonObject(rest[name]) : isWord(rest[name])));
  return isWhole === true ? { ...rest, type: kind } : textOf(`[something of type ${kind} that cannot be read]`);
}

function isWord(value: unknown): boolean {
  return typeof value === "string";
}

function textOf(value: unknown): Fields {
  return { type: "text", text: typeof value === "string" ? value : JSON.stringify(value) };
}

/** `null` is what some languages write for "absent". */
function withoutNulls(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

function wordsOf(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}
