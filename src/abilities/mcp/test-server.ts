import { type McpServer, configuredRisk, type TestedServer, type TestedTool } from "../../domain/sandbox/mcp-server.ts";
import type { McpConnection } from "./connection/connection.ts";
import type { ChangedTool, Pins } from "./pins/pins.ts";
import { checkTools, type RefusedTool } from "./tools/listed-tool.ts";

/** Asks a server what it has, and pings it. With pins, what is new of its tools is pinned, as a turn would. */
export async function testServer(
  connection: Pick<McpConnection, "listTools" | "ping" | "serverVersion" | "protocol">,
  server: McpServer,
  { pins, signal }: { readonly pins?: Pick<Pins, "judge"> | undefined; readonly signal: AbortSignal },
): Promise<TestedServer> {
  const { items } = await connection.listTools(signal);
  const began = performance.now();
  await connection.ping(signal);
  const pingMs = Math.round(performance.now() - began);
  const checked = checkTools(server, items);
  const judged = (await pins?.judge(server.name, checked.tools)) ?? { tools: checked.tools, changed: [], refused: [] };
  const { serverVersion: version, protocol } = connection;
  const { name } = server;
  const ok = judged.tools.map((tool) => ({ server: name, name: tool.name, risk: tool.risk, state: "ok" as const }));
  const refused = [...checked.refused, ...judged.refused].map((tool) => viewUnused(server, tool, "refused"));
  const changed = judged.changed.map((tool) => viewUnused(server, tool, "changed"));
  return { name, version, protocol, pingMs, tools: [...ok, ...changed, ...refused] };
}

function viewUnused(server: McpServer, tool: ChangedTool | RefusedTool, state: "changed" | "refused"): TestedTool {
  const { name } = tool;
  const risk = configuredRisk(server, name) ?? "medium";
  return { server: server.name, name, risk, state, ...("reason" in tool && { reason: tool.reason }) };
}
