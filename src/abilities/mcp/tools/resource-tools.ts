import * as z from "zod";

import { withoutOwnElements } from "../../../lib/text/own-elements.ts";
import { sourced, type Sourced } from "../../../domain/rights/sourced.ts";
import { nearest } from "../../../lib/text/nearest.ts";
import { ToolError } from "../../../protocol/tools.ts";
import { defineTool, type HostTool } from "../../../tools/define-tool.ts";
import type { KeptConnection } from "../connection/kept-connection.ts";
import { callSeconds } from "./server-tool.ts";
import { toPrompt, toResource } from "./result.ts";

const shownItems = 100;
const timeoutMs = callSeconds * 1_000;

const readInput = z.strictObject({
  server: z.string().max(64).describe("Which server."),
  uri: z.string().max(4_096).optional().describe("Which resource; left out: which there are."),
});

const promptInput = z.strictObject({
  server: z.string().max(64).describe("Which server."),
  name: z.string().max(256).optional().describe("Which prompt; left out: which there are."),
  arguments: z.record(z.string().max(128), z.string().max(20_000)).optional().describe("What it asks for."),
});

const described = z.looseObject({
  uri: z.string().max(4_096).optional(),
  name: z.string().max(256),
  description: z.string().optional(),
  arguments: z
    .array(z.looseObject({ name: z.string().max(128), required: z.boolean().optional() }))
    .max(64)
    .optional(),
});

/** Reads resources of these servers. */
export function readTool(servers: readonly KeptConnection[]): HostTool {
  return defineTool({
    name: "mcp_read",
    description: `Reads a resource of an MCP server, or lists those that there are. Servers: ${namesOf(servers)}.`,
    runs: "host",
    risk: "medium",
    timeoutSeconds: callSeconds,
    input: readInput,
    origin: "mcp",
    needs: ["keepImage"],
    run: ({ server, uri }, { keepImage, signal }) =>
      find(servers, server).use(signal, async (open) => {
        if (uri === undefined) return list(await open.listResources(signal), ({ uri: at = "" }) => at);
        return toResource(await open.readResource(uri, { signal, timeoutMs }), keepImage);
      }),
  });
}

/** Gets prompts of these servers. */
export function promptTool(servers: readonly KeptConnection[]): HostTool {
  return defineTool({
    name: "mcp_prompt",
    description: `Gets a prompt of an MCP server, filled in, or lists those that there are. Servers: ${namesOf(servers)}.`,
    runs: "host",
    risk: "medium",
    timeoutSeconds: callSeconds,
    input: promptInput,
    origin: "mcp",
    needs: ["keepImage"],
    run: ({ server, name, arguments: given = {} }, { keepImage, signal }) =>
      find(servers, server).use(signal, async (open) => {
        if (name === undefined) return list(await open.listPrompts(signal), argumentsOf);
        return toPrompt(await open.getPrompt(name, given, { signal, timeoutMs }), keepImage);
      }),
  });
}

function namesOf(servers: readonly KeptConnection[]): string {
  return servers.map(({ server }) => server.name).join(", ");
}

function find(servers: readonly KeptConnection[], name: string): KeptConnection {
  const found = servers.find(({ server }) => server.name === name);
  if (found) return found;
  const names = servers.map(({ server }) => server.name);
  const near = nearest(name, names);
  const hint = near === undefined ? `There are: ${names.join(", ")}.` : `Did you mean ${near}?`;
  throw new ToolError(`There is no server ${JSON.stringify(name)} with this. ${hint}`);
}

function list(
  { items, isCut }: { readonly items: readonly unknown[]; readonly isCut: boolean },
  more: (item: z.output<typeof described>) => string,
): Sourced {
  const known = items.flatMap((item) => described.safeParse(item).data ?? []);
  const lines = known.slice(0, shownItems).map((item) => {
    const line = [item.name, more(item), item.description ?? ""].filter((text) => text !== "").join(": ");
    return withoutOwnElements(line).replaceAll(/\s+/g, " ").slice(0, 500);
  });
  const left = known.length - lines.length;
  if (left > 0 || isCut) lines.push(`[${isCut ? "many" : left} more]`);
  return sourced(lines.join("\n") || "None are installed.", ["mcp"]);
}

function argumentsOf({ arguments: all = [] }: z.output<typeof described>): string {
  return all.map(({ name, required = false }) => (required ? `${name} (required)` : name)).join(", ");
}
