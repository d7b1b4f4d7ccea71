import { createHash } from "node:crypto";

import * as z from "zod";

import { withoutOwnElements } from "../../../lib/text/own-elements.ts";
import { type McpServer, serverToolSeparator, configuredRisk } from "../../../domain/sandbox/mcp-server.ts";
import type { Risk } from "../../../domain/rights/policy.ts";
import { canonicalJson } from "../../../lib/canonical-json.ts";
import { refusedTool } from "../connection/mend-answer.ts";
import { visible } from "../../../lib/text/visible.ts";

const descriptionChars = 4_000;
const schemaChars = 32_000;
const schemaDepth = 24;
const nameChars = 64;

/** Used fields of a server's list. */
const listed = z.looseObject({
  name: z.string().min(1).max(128),
  title: z.string().optional(),
  description: z.string().optional(),
  inputSchema: z.looseObject({ type: z.literal("object") }),
  annotations: z
    .looseObject({ readOnlyHint: z.boolean().optional(), destructiveHint: z.boolean().optional() })
    .optional(),
});

/** A tool of a server as it can be offered. */
export interface ListedTool {
  /** Name given by the server. */
  readonly name: string;
  /** Name for models: `files__read`. */
  readonly fullName: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly risk: Risk;
  /** Hash of name, description and schema as given by the server. */
  readonly sha256: string;
  /** The hashed text, for people. */
  readonly text: string;
}

/** One that is not used, and why. */
export interface RefusedTool {
  readonly name: string;
  readonly reason: string;
}

export interface CheckedTools {
  /** Sorted by name. */
  readonly tools: readonly ListedTool[];
  readonly refused: readonly RefusedTool[];
}

/** Returns the tools to offer: allowed by the operator, with bounded texts without hidden characters. */
export function checkTools(
  server: Pick<McpServer, "name" | "tools" | "risk">,
  items: readonly unknown[],
): CheckedTools {
  const tools: ListedTool[] = [];
  const refused: RefusedTool[] = [];
  for (const item of items) {
    const checked = checkTool(server, item);
    if (checked === undefined) continue;
    if ("reason" in checked) refused.push(checked);
    else tools.push(checked);
  }
  const counts = Map.groupBy(tools, ({ fullName }) => fullName);
  const isOne = ({ fullName }: ListedTool): boolean => counts.get(fullName)?.length === 1;
  return {
    tools: tools.filter(isOne).toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    refused: [
      ...refused,
      ...tools
        .filter((tool) => !isOne(tool))
        .map(({ name, fullName }) => ({ name, reason: `several of its tools would be called ${fullName}` })),
    ],
  };
}

/** Checks a tool; undefined when the operator does not want it. */
function checkTool(
  { name: server, tools, risk }: Pick<McpServer, "name" | "tools" | "risk">,
  item: unknown,
): ListedTool | RefusedTool | undefined {
  const parsed = listed.safeParse(item);
  if (!parsed.success) return { name: nameOf(item), reason: "it is not described as the protocol says" };
  const { name, description = "", title = "", inputSchema, annotations } = parsed.data;
  if (tools && !tools.includes(name)) return undefined;
  const shown = visible(name).slice(0, nameChars);
  const refusal = inputSchema[refusedTool];
  if (typeof refusal === "string") return { name: shown, reason: refusal };
  if (isDeeper(inputSchema, schemaDepth)) return { name: shown, reason: `its schema is deeper than ${schemaDepth}` };
  if (JSON.stringify(inputSchema).length > schemaChars)
    return { name: shown, reason: `its schema has more than ${schemaChars} characters` };
  const text = `${name}\n\n${description}\n\n${JSON.stringify(JSON.parse(canonicalJson(inputSchema)), undefined, 2)}`;
  return {
    name,
    fullName: fullNameOf(server, name),
    description: shorten(withoutOwnElements(description === "" ? title : description).trim()),
    inputSchema: cleanSchema(inputSchema),
    risk: riskOf(name, risk, annotations),
    sha256: createHash("sha256")
      .update(canonicalJson([name, description, inputSchema]))
      .digest("hex"),
    text,
  };
}

/** Risk of a tool: the operator's setting, or the server's annotation, which can only raise it. */
function riskOf(
  name: string,
  risk: McpServer["risk"],
  annotations: { readonly destructiveHint?: boolean | undefined } | undefined,
): Risk {
  return configuredRisk({ risk }, name) ?? (annotations?.destructiveHint === true ? "high" : "medium");
}

/** `read.file` of `files` is `files__read_file`; what is too long ends with a hash of it. */
export function fullNameOf(server: string, tool: string): string {
  const name = `${server}${serverToolSeparator}${tool.replaceAll(/[^a-zA-Z0-9_-]/g, "_")}`;
  if (name.length <= nameChars) return name;
  const hash = createHash("sha256").update(tool).digest("hex").slice(0, 8);
  return `${name.slice(0, nameChars - 9)}_${hash}`;
}

function shorten(text: string): string {
  if (text.length <= descriptionChars) return text;
  return `${text.slice(0, descriptionChars).toWellFormed()} [${text.length - descriptionChars} more characters]`;
}

function nameOf(item: unknown): string {
  const name: unknown = typeof item === "object" && item !== null && "name" in item ? item.name : undefined;
  return typeof name === "string" ? visible(name.slice(0, nameChars)) : "(no name)";
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

/** The same schema without what hides in its texts. Keys stay as they are: they name fields that the server reads. */
function cleanSchema(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { $schema: _version, ...rest } = schema;
  return cleanValue(rest) as Record<string, unknown>;
}

function cleanValue(value: unknown): unknown {
  if (typeof value === "string") return withoutOwnElements(value);
  if (Array.isArray(value)) return value.map(cleanValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cleanValue(inner)]));
}
