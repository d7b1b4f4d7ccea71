import type { Command } from "commander";

import { AppError } from "../../../../lib/app-error.ts";
import { unifiedDiff } from "../../../../lib/text/unified-diff.ts";
import { visibleLines } from "../../../../lib/text/visible.ts";
import { readMcpLock } from "../../../../abilities/mcp/packages/lock-file.ts";
import { pinsOf } from "../../../../abilities/mcp/pins/pins.ts";
import { addLeaf, type CommandContext } from "../../context.ts";
import { isConfirmed } from "../../confirm.ts";
import { findServer } from "./servers.ts";
import { allowMcpTool } from "../../../../abilities/mcp/operations.ts";

/** Adds the command that accepts tools' present descriptions. */
export function addAllow(mcp: Command, context: CommandContext): void {
  addLeaf(mcp, "allow <name> [tool]", "allow changed tools of a server, as they describe themselves now")
    .option("--yes", "without asking")
    .action(async (name: string, tool: string | undefined, { yes }: { yes?: boolean }, command: Command) => {
      await findServer(context, name);
      const output = context.outputOf(command);
      const pins = pinsOf(await readMcpLock(context.paths.mcpLock), name);
      const changed = Object.entries(pins).flatMap(([pinned, { text, changed: now }]) =>
        now && (tool === undefined || tool === pinned) ? [{ tool: pinned, before: text, now }] : [],
      );
      if (changed.length === 0)
        throw new AppError("not_found", `No tool ${tool === undefined ? "" : `"${tool}" `}of ${name} has changed.`);
      for (const { tool: pinned, before, now } of changed) {
        output.line(`${pinned} of ${name}:\n${visibleLines(unifiedDiff(before, now.text))}\n`);
        if (output.json && yes !== true) output.object({ server: name, name: pinned, state: "changed" });
      }
      if (!(await isConfirmed(context, output, yes === true))) return;
      for (const { tool: pinned, now } of changed) {
        const allowed = await context.call(allowMcpTool, { name, tool: pinned, sha256: now.sha256 });
        if (output.json) output.object(allowed);
        output.line(`${pinned} of ${name} is allowed.`, "good");
      }
    });
}
