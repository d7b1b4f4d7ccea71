import type { Command } from "commander";

import { shorten, visibleLines } from "../../../lib/text/visible.ts";
import type { CommandContext } from "../context.ts";
import { addLeaf } from "../context.ts";
import { formatTime } from "../formats.ts";
import { cancelSubAgent, listSubAgents, showSubAgent } from "../../../operations/sub-agents/operations.ts";

const shownChars = 60;

export function addAgentsCommand(program: Command, context: CommandContext): void {
  const agents = program.command("agents").description("sub-agents: agents that work for agents");
  addListCommand(agents, context);
  addShowCommand(agents, context);

  addLeaf(agents, "cancel <id>", "end a sub-agent; whoever waits for it goes on").action(
    async (id: string, _options: object, command: Command) => {
      const agent = await context.call(cancelSubAgent, { id });
      const output = context.outputOf(command);
      if (output.json) output.object(agent);
      output.line(`${agent.id} of group ${agent.group} is cancelled.`);
    },
  );
}

function addListCommand(agents: Command, context: CommandContext): void {
  addLeaf(agents, "list", "sub-agents that are at work, newest first")
    .option("--group <name>", "only this group")
    .option("--all", "also those that have ended")
    .action(async ({ group, all }: { group?: string; all?: boolean }, command: Command) => {
      context.outputOf(command).items(
        await context.read(listSubAgents, { group, all }),
        [
          { title: "id", of: ({ id }) => id },
          { title: "group", of: ({ group: name }) => name },
          { title: "state", of: ({ state }) => state },
          { title: "session", of: ({ session }) => session },
          { title: "parent", of: ({ parent }) => parent },
          { title: "began (UTC)", of: ({ createdAt }) => formatTime(createdAt) },
          { title: "task", of: ({ task }) => shorten(task, shownChars) },
        ],
        "No sub-agent is at work.",
      );
    });
}

function addShowCommand(agents: Command, context: CommandContext): void {
  addLeaf(agents, "show <id>", "all of a sub-agent").action(async (id: string, _options: object, command: Command) => {
    const agent = await context.read(showSubAgent, { id });
    const output = context.outputOf(command);
    if (output.json) return output.object(agent);
    output.facts(agent, [
      ["id", agent.id],
      ["group", agent.group],
      ["state", agent.state],
      ["works for", `${agent.requester ?? "nobody in particular"} (${agent.role})`],
      ["session", agent.session],
      ["parent", agent.parent],
      ["turn", agent.turn],
      ["profile", agent.profile],
      ["in the background", agent.background ? "yes" : "no"],
      ["began (UTC)", formatTime(agent.createdAt)],
      ["until (UTC)", formatTime(agent.expiresAt)],
      ["ended (UTC)", agent.endedAt && formatTime(agent.endedAt)],
      ["files", agent.files.length === 0 ? undefined : agent.files.join(", ")],
      ["task", agent.task],
    ]);
    if (agent.result !== undefined) output.line(visibleLines(agent.result));
  });
}
