import type { Command } from "commander";

import { mcpServers } from "../../../../config/configured/mcp.ts";
import { ownCommand } from "../../../../lib/process/own-command.ts";
import { anyTool, type ToolRow } from "../../../../abilities/mcp/offline.ts";
import { addLeaf, type CommandContext } from "../../context.ts";
import { configNow, findServer, mcpHomeOf } from "./servers.ts";

export function addTools(mcp: Command, context: CommandContext): void {
  addLeaf(mcp, "tools [server]", "list the tools of all servers or one, as last seen").action(
    async (name: string | undefined, _options: object, command: Command) => {
      const servers = name === undefined ? mcpServers(await configNow(context)) : [await findServer(context, name)];
      const rows = await mcpHomeOf(context).toolsOf(servers);
      const columns = [
        { title: "server", of: (row: ToolRow) => row.server },
        { title: "tool", of: (row: ToolRow) => row.name },
        { title: "risk", of: (row: ToolRow) => row.risk },
        { title: "state", of: (row: ToolRow) => row.state },
      ];
      const output = context.outputOf(command);
      output.items(rows, columns, "There are no MCP servers.");
      const unasked = rows.filter(({ name: tool }) => tool === anyTool);
      for (const { server } of unasked)
        output.line(`The tools of ${server} are not known yet; run ${ownCommand(`mcp test ${server}`)}.`);
    },
  );
}
