import type { Group } from "../../domain/chats/group.ts";
import { agents } from "./agents.ts";
import { answer } from "./answer.ts";
import { approve } from "./approve.ts";
import type { ChatCommand } from "./command.ts";
import { compact } from "./compact.ts";
import { context } from "./context.ts";
import { deny } from "./deny.ts";
import { help } from "./help.ts";
import { jobs } from "./jobs.ts";
import { memory } from "./memory.ts";
import { model } from "./model.ts";
import { mounts } from "./mounts.ts";
import { newConversation } from "./new.ts";
import { type Family, families } from "../operations.ts";
import { operationCommand } from "./operation-command.ts";
import { set } from "./set.ts";
import { settings } from "./settings.ts";
import { skills } from "./skills.ts";
import { status } from "./status.ts";
import { stop } from "./stop.ts";
import { agentTaken } from "./agents-addressed.ts";
import { tasks } from "./tasks.ts";
import { whoami } from "./whoami.ts";
import { usage } from "./usage.ts";

/** In the order in which `/help` lists them. */
const chatCommands: readonly ChatCommand[] = [
  stop,
  newConversation,
  status,
  usage,
  context,
  compact,
  model,
  tasks,
  jobs,
  agents,
  memory,
  mounts,
  skills,
  whoami,
  help,
  approve,
  deny,
  answer,
  set,
  settings,
  ...Object.entries<Family>(families).flatMap(([name, { chat, load }]) =>
    chat ? [operationCommand({ name, ...chat, load })] : [],
  ),
];

/** Commands for a person's role in this group. `remembers`: the group has a memory. */
export function commandsOf(group: Pick<Group, "main" | "agents">, remembers = false): readonly ChatCommand[] {
  const all = chatCommands.filter(
    (command) => (group.main || !command.inMainGroups) && (remembers || !command.needsMemory),
  );
  if (!group.agents) return all;
  return all.map((command) => (command.perAgent ? { ...command, takes: takenOf(command) } : command));
}

function takenOf({ takes }: ChatCommand): string {
  return takes === undefined ? agentTaken : `${agentTaken} | ${takes}`;
}
