import { Option } from "commander";
import type { Command } from "commander";

import type { WorkState } from "../../../domain/work/work.ts";
import { shorten } from "../../../lib/text/visible.ts";
import type { CommandContext } from "../context.ts";
import { addLeaf } from "../context.ts";
import { formatTime } from "../formats.ts";
import { parseCount } from "../parse-count.ts";
import { ownCommand } from "../../../lib/process/own-command.ts";
import { addWork, dropWork, listWork } from "../../../operations/work/operations.ts";

const states = ["due", "taken", "settled", "dropped"];
const shownChars = 60;

interface AddOptions {
  readonly group: string;
  readonly session?: string;
  readonly silent?: boolean;
}

export function addWorkCommand(program: Command, context: CommandContext): void {
  const work = program.command("work").description("give agents something to do, list and drop what they have to do");
  addListCommand(work, context);

  addLeaf(work, "add <text>", "give the agent of a group something to do now; its answer goes to the group's chat")
    .requiredOption("--group <name>", "whose agent")
    .option("--session <name>", "in a session of this name beside the group's conversation, made if it is new")
    .option("--silent", `the answer goes nowhere; see it with \`${ownCommand("turns show")}\``)
    .action(async (text: string, { group, session, silent }: AddOptions, command: Command) => {
      const added = await context.call(addWork, { group, text, session, silent: silent === true });
      const output = context.outputOf(command);
      if (output.json) output.object(added);
      output.line(`The agent of group ${group} has it: work ${added.id}.`);
    });

  addLeaf(work, "drop <id>", "drop work that no turn has begun; the beginning of its id is enough").action(
    async (id: string, _options: object, command: Command) => {
      const answer = await context.call(dropWork, { id });
      const output = context.outputOf(command);
      if (output.json) output.object(answer);
      output.line(`Work ${answer.dropped} is dropped.`);
    },
  );
}

function addListCommand(work: Command, context: CommandContext): void {
  addLeaf(work, "list", "work other than messages, newest first")
    .option("--group <name>", "only this group")
    .addOption(new Option("--state <state>", "only in this state").choices(states))
    .option("--limit <count>", "how many", parseCount, 20)
    .action(async ({ group, state, limit }: { group?: string; state?: WorkState; limit: number }, command: Command) => {
      context.outputOf(command).items(
        await context.read(listWork, { group, state, limit }),
        [
          { title: "id", of: ({ id }) => id },
          { title: "group", of: ({ group: name }) => name },
          { title: "cause", of: ({ cause }) => cause },
          { title: "state", of: ({ state: current }) => current },
          { title: "due (UTC)", of: ({ dueAt }) => formatTime(dueAt) },
          { title: "turn", of: ({ turn }) => turn },
          { title: "reason", of: ({ reason }) => reason },
          { title: "text", of: ({ text }) => shorten(text, shownChars) },
        ],
        "There is no such work.",
      );
    });
}
