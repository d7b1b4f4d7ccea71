import { type Group, isReviewed } from "../../domain/chats/group.ts";
import { heartbeatFile } from "../../domain/work/heartbeat.ts";
import { type Family, families } from "../operations.ts";
import { agentTaken } from "./agents-addressed.ts";
import type { ChatCommand } from "./command.ts";
import { answer } from "./commands/approvals/answer.ts";
import { approve } from "./commands/approvals/approve.ts";
import { apply, discard } from "./commands/approvals/decide-review.ts";
import { deny } from "./commands/approvals/deny.ts";
import { compact } from "./commands/compact.ts";
import { help } from "./commands/help.ts";
import { memory } from "./commands/memory.ts";
import { newConversation } from "./commands/new.ts";
import { stop } from "./commands/stop.ts";
import { operationCommand } from "./operation-command.ts";

/** Operations on settings of groups. */
const loadSettings = async () => (await import("../../operations/settings/operations.ts")).groupSettingOperations;

/** In the order in which `/help` lists them. */
const chatCommands: readonly ChatCommand[] = [
  stop,
  newConversation,
  operationCommand({
    name: "status",
    help: "what I am doing, and what is waiting",
    needs: "guest",
    load: async () => [(await import("../../operations/groups/group-status.ts")).showGroupStatus],
  }),
  operationCommand({
    name: "usage",
    help: "usage and cost today and in the last 7 days",
    needs: "member",
    load: families.usage.load,
  }),
  operationCommand({
    name: "context",
    help: "show how the context window is used",
    needs: "member",
    perAgent: true,
    load: families.context.load,
  }),
  compact,
  operationCommand({
    name: "model",
    help: "models in use here; admins choose with /model ROUTE",
    takes: "[ROUTE]",
    needs: "member",
    load: async () => [...(await families.models.load()), ...(await loadSettings())],
  }),
  operationCommand({
    name: "tasks",
    help: "tasks at certain times; admins: /tasks pause|resume|remove|run ID",
    takes: "[pause|resume|remove|run ID]",
    needs: "member",
    load: families.tasks.load,
    around: ({ group }, { nextHeartbeatOf, showTime }) => {
      const beat = nextHeartbeatOf(group.name);
      if (beat === undefined) return {};
      return {
        after: `I also check ${heartbeatFile} regularly: next ${showTime(beat, group)}. To stop this, use /set ${group.name} heartbeat off in a main group.`,
      };
    },
  }),
  operationCommand({
    name: "jobs",
    help: "background jobs; stop one with /jobs stop ID",
    takes: "[stop ID]",
    needs: "member",
    load: families.jobs.load,
  }),
  operationCommand({
    name: "agents",
    help: "sub-agents at work; stop one with /agents stop ID",
    takes: "[stop ID]",
    needs: "guest",
    load: families.agents.load,
    around: ({ group }, services) => {
      if (!group.agents) return {};
      const names = group.agents.map((id) => services.agentNameOf(group, id));
      return { before: `Agents here: ${names.join(", ")}. Messages without a mention go to ${names[0]}.` };
    },
  }),
  memory,
  operationCommand({
    name: "mounts",
    help: "folders of the host that I can use here",
    needs: "member",
    load: families.mounts.load,
  }),
  operationCommand({ name: "skills", help: "skills that I have here", needs: "member", load: families.skills.load }),
  operationCommand({
    name: "whoami",
    help: "your identity and role here",
    needs: "guest",
    load: families.people.load,
  }),
  help,
  approve,
  deny,
  answer,
  apply,
  discard,
  operationCommand({
    name: "set",
    help: "change a setting of a group, for example: /set family trigger always",
    takes: "GROUP KEY VALUE",
    needs: "admin",
    inMainGroups: true,
    load: loadSettings,
  }),
  operationCommand({
    name: "settings",
    help: "settings of a group",
    takes: "[GROUP]",
    needs: "admin",
    inMainGroups: true,
    load: loadSettings,
  }),
  ...Object.entries<Family>(families).flatMap(([name, { chat, load }]) =>
    chat ? [operationCommand({ name, ...chat, load })] : [],
  ),
];

/** Commands for a person's role in this group. `remembers`: the group has a memory. */
export function commandsOf(
  group: Pick<Group, "main" | "agents" | "mounts">,
  remembers = false,
): readonly ChatCommand[] {
  const reviews = group.mounts.some(isReviewed);
  const all = chatCommands.filter(
    (command) =>
      (group.main || !command.inMainGroups) && (remembers || !command.needsMemory) && (reviews || !command.needsReview),
  );
  if (!group.agents) return all;
  return all.map((command) => (command.perAgent ? { ...command, takes: takenOf(command) } : command));
}

function takenOf({ takes }: ChatCommand): string {
  return takes === undefined ? agentTaken : `${agentTaken} | ${takes}`;
}
