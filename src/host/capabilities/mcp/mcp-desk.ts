import { findMcpServer, mcpServers } from "../../../config/configured/mcp.ts";
import type { Group } from "../../../domain/chats/group.ts";
import { AppError } from "../../../lib/app-error.ts";
import { ownCommand } from "../../../lib/process/own-command.ts";
import type { McpNeeds } from "../../../abilities/mcp/operations.ts";
import type { ServerView } from "../../../abilities/mcp/servers.ts";
import { operator } from "../../../operations/approvals/approval-view.ts";
import type { Approvals } from "../../approvals.ts";
import type { AppContext } from "../../context.ts";
import type { Mcp } from "./mcp.ts";

/** A server with its package is there by then, or says nothing. */
const testMs = 180_000;

/** Operations on MCP servers. */
export function createMcpOperations(
  { live, publish }: Pick<AppContext, "live" | "publish">,
  { view, test: testServer, allow: allowTool }: Pick<Mcp, "view" | "test" | "allow">,
  {
    list,
    approvals,
  }: {
    readonly list: () => readonly Group[];
    readonly approvals: Pick<Approvals, "descriptions" | "service">;
  },
): McpNeeds["mcp"] {
  const settle = async (name: string, tool: string, sha256: string): Promise<boolean> => {
    const code = await approvals.descriptions.openFor(name, tool, sha256);
    if (code === undefined) return false;
    const { outcome } = await approvals.service.answer({ code, allow: true, scope: "once", by: operator });
    return outcome === "written";
  };
  const named = (server: string): string[] =>
    Object.entries(live.current.groups).flatMap(([name, { mcp }]) => (mcp.includes(server) ? [name] : []));
  return {
    list: () =>
      Promise.resolve(
        mcpServers(live.current).map(({ name, kind }) => {
          const groups = named(name);
          const views = groups.flatMap((group) => view({ name: group }).filter(({ server }) => server === name));
          return { name, kind, groups, ...stateOf(views) };
        }),
      ),
    allow: async (name, tool, sha256) => {
      findMcpServer(live.current, name);
      const done = { server: name, name: tool, state: "ok" } as const;
      if (await settle(name, tool, sha256)) return done;
      await publish({ type: "mcp.allowed", actor: "operator", data: { server: name, name: tool, sha256 } });
      if (await allowTool(name, tool, sha256)) {
        approvals.service.checkNow();
        return done;
      }
      throw new AppError(
        "conflict",
        `The description of ${tool} of ${name} has changed again, or the tool is missing.`,
        {
          fix: ownCommand(`mcp tools ${name}`),
        },
      );
    },
    test: (name) => {
      const server = findMcpServer(live.current, name);
      const signal = AbortSignal.timeout(testMs);
      if (server.kind === "remote" || server.scope === "shared") return testServer(server, undefined, signal);
      const group = list().find((one) => named(name).includes(one.name));
      // Where nobody has it yet, it is tried by itself.
      return group
        ? testServer(server, group, signal)
        : testServer({ ...server, scope: "shared", folder: "none" }, undefined, signal);
    },
  };
}

/** State of a server: the worst one where each group has its own. */
function stateOf(views: readonly ServerView[]): { state: ServerView["state"]; reason?: string } {
  const failed = views.find(({ state }) => state === "failed");
  if (failed) return { state: "failed", ...(failed.fault !== undefined && { reason: failed.fault }) };
  const states = views.map(({ state }) => state);
  return { state: states.find((state) => state === "open") ?? states.find((state) => state === "opening") ?? "closed" };
}
