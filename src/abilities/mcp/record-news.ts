import type { Logger } from "pino";

import type { Publish } from "../../domain/events/event.ts";
import type { ServerNews } from "./servers.ts";

/** Puts on record what has happened to a server, and warns the operator in the log. */
export async function recordNews(
  { publish, logger }: { readonly publish: Publish; readonly logger: Pick<Logger, "warn"> },
  { server, group, news }: { readonly server: string; readonly group: string | undefined; readonly news: ServerNews },
): Promise<void> {
  const about = { group, actor: "host" } as const;
  switch (news.kind) {
    case "opened": {
      const { version, protocol, tools, refused, isCut: cut } = news;
      const data = { server, version, protocol, tools, refused: refused.slice(0, 20), cut };
      if (refused.length > 0 || cut) logger.warn({ ...data }, "not all tools of an MCP server are used");
      await publish({ type: "mcp.opened", ...about, data });
      break;
    }
    case "closed":
      await publish({ type: "mcp.closed", ...about, data: { server, reason: news.reason } });
      break;
    case "failed":
      logger.warn({ mcp: server, group, reason: news.reason }, "an MCP server cannot be used for now");
      await publish({ type: "mcp.failed", ...about, data: { server, reason: news.reason } });
      break;
    case "changed": {
      const tools = news.changed.map(({ name, before, now }) => ({ name, before: before.sha256, sha256: now.sha256 }));
      await publish({ type: "mcp.changed", ...about, data: { server, tools } });
      break;
    }
  }
}
