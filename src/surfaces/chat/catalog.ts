import type { Group } from "../../domain/chats/group.ts";
import { agents } from "./commands/agents.ts";
import { answer } from "./commands/approvals/answer.ts";
import { approve } from "./commands/approvals/approve.ts";
import type { ChatCommand } from "./command.ts";
import { compact } from "./commands/compact.ts";
import { context } from "./commands/context.ts";
import { deny } from "./commands/approvals/deny.ts";
import { help } from "./commands/help.ts";
import { jobs } from "./commands/jobs.ts";
import { memory } from "./commands/memory.ts";
import { model } from "./commands/settings/model.ts";
import { mounts } from "./commands/mounts.ts";
import { newConversation } from "./commands/new.ts";
import { type Family, families } from "../operations.ts";
import { operationCommand } from "./operation-command.ts";
import { set } from "./commands/settings/set.ts";
import { settings } from "./commands/settings/settings.ts";
import { skills } from "./commands/skills.ts";
import { status } from "./commands/status.ts";
import { stop } from "./commands/stop.ts";
import { agentTaken } from "./agents-addressed.ts";
import { tasks } from "./commands/tasks.ts";
import { whoami } from "./commands/whoami.ts";
import { usage } from "./commands/usage.ts";

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
