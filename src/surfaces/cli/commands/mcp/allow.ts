import type { Command } from "commander";

import { AppError } from "../../../../lib/app-error.ts";
import { unifiedDiff } from "../../../../lib/text/unified-diff.ts";
import { visibleLines } from "../../../../lib/text/visible.ts";
import { addLeaf, type CommandContext } from "../../context.ts";
import { isConfirmed } from "../../confirm.ts";
import { findServer, mcpHomeOf } from "./servers.ts";
import { allowMcpTool } from "../../../../abilities/mcp/operations.ts";

/** Adds the command that accepts tools' present descriptions. */
export function addAllow(mcp: Command, context: CommandContext): void {
  addLeaf(mcp, "allow <name> [tool]", "allow changed tools of a server, as they describe themselves now")
    .option("--yes", "without asking")
    .action(async (name: string, tool: string | undefined, { yes }: { yes?: boolean }, command: Command) => {
      await findServer(context, name);
      const output = context.outputOf(command);
      const all = await mcpHomeOf(context).changedTools(name);
      const changed = all.filter((one) => tool === undefined || tool === one.name);
      if (changed.length === 0)
        throw new AppError("not_found", `No tool ${tool === undefined ? "" : `"${tool}" `}of ${name} has changed.`);
      for (const { name: pinned, before, now } of changed) {
        output.line(`${pinned} of ${name}:\n${visibleLines(unifiedDiff(before.text, now.text))}\n`);
        if (output.json && yes !== true) output.object({ server: name, name: pinned, state: "changed" });
      }
      if (!(await isConfirmed(context, output, yes === true))) return;
      for (const { name: pinned, now } of changed) {
        const allowed = await context.call(allowMcpTool, { name, tool: pinned, sha256: now.sha256 });
        if (output.json) output.object(allowed);
        output.line(`${pinned} of ${name} is allowed.`, "good");
      }
    });
}
