import { AppError } from "../lib/app-error.ts";
import { nearest } from "../lib/text/nearest.ts";
import type { EventType } from "./event.ts";

/** Every type of event, and what it tells. */
export const eventTypes = {
  "host.started": "the host begins to work",
  "host.stopped": "it has stopped cleanly",
  "home.copied": "the home was copied or moved, and gets an id of its own",
  "config.loaded": "with which configuration it works",
  "config.applied": "a changed configuration holds, before it does",
  "settings.changed": "settings of a group that was added at run time change",
  "config.refused": "a changed file cannot be used",
  "engine.judged": "what the container engine is, and what is wrong with it",
  "store.pruned": "what was too old was removed from the store",
  "channel.changed": "a channel is connected, or is not any more",
  "operation.requested": "the operator asks for something, before it is done",
  "operation.ended": "how a change that the operator asked for ended",
  "http.refused": "a request over HTTP was refused",
  "message.received": "a message of a group is stored, and what was decided about it",
  "webhook.received": "a signed call of a webhook is stored, or was before",
  "webhook.refused": "a call of a webhook was refused",
  "heartbeat.begun": "an agent is about to look by itself at what is due",
  "heartbeat.skipped": "it does not, although its file says something",
  "access.refused": "somebody wanted what they may not",
  "command.given": "a chat command, before it is carried out",
  "intake.stopped": "messages are no longer accepted",
  "intake.resumed": "messages are accepted again",
  "admission.requested": "a chat asks to become a group",
  "pairing.requested": "somebody who wrote directly has got a code",
  "person.paired": "the direct chat of somebody is about to become a group",
  "chat.left": "the account is not in a chat any more",
  "group.added": "a chat became a group",
  "group.removed": "a group was removed",
  "folder.adopted": "a folder is given to a different chat",
  "instructions.changed":
    "AGENTS.md of a group, or its like, has changed since its last turn, or is about to because people allowed it",
  "file.refused": "a file of a group is not used",
  "limit.reached": "a limit of the intake, a container or a turn was reached",
  "budget.warned": "much of a day's budget is used, told once",
  "turn.started": "a turn begins, or resumes after a restart",
  "turn.ended": "how a turn ended, and what it waited for",
  "model.requested": "a model is about to be asked",
  "model.responded": "how one attempt ended",
  "tool.called": "the model calls a tool, before the agent gets the call",
  "tool.denied": "a call that may not run",
  "approval.asked": "people are asked about a call, before they are",
  "approval.answered": "somebody answers, before the answer counts",
  "approval.decided": "what they decided, or that nobody did in time",
  "approval.used": "a call is about to run because people allowed it",
  "tool.returned": "a tool's result has arrived, before the model sees it",
  "schedule.made": "a task is about to be made",
  "schedule.changed": "a task is about to be changed",
  "schedule.paused": "a task is about to be paused, and why",
  "schedule.resumed": "a paused task is about to go on",
  "schedule.removed": "a task is about to be removed",
  "schedule.claimed": "a task is due and about to be handed to its agent",
  "schedule.missed": "due times of a task passed while the host was away",
  "schedule.ended": "how a run of a task ended, and whether it is tried again",
  "origins.cleared": "what a group's folder carries does not count any more",
  "memory.kept": "what was said in a group is its memory now",
  "memory.extracted": "a model has drawn facts from what was said, before they are kept",
  "memory.stored": "an agent keeps something, before it is kept",
  "memory.forgotten": "memories are removed for good, before they are",
  "memory.cleaned": "memories that are too old are removed for good, before they are",
  "session.read": "an agent has read what was said in another session, before it sees it",
  "session.addressed": "an agent gives another session something to do, before it has it",
  "job.started": "a command of the agent goes on in the background",
  "job.ended": "it is over, before its agent is told",
  "agent.started": "a sub-agent is about to begin",
  "agent.ended": "how a sub-agent ended, before its parent has the result",
  "agent.progressed": "the agent says what it is doing, told at most once a second",
  "agent.failed": "the agent says why it could not go on",
  "agent.overstepped": "the agent asked for what the model had not asked for",
  "mailbox.violated": "a message of the agent was refused",
  "egress.judged": "a way out was asked for, or closed",
  "reply.redacted": "secrets were removed from a reply",
  "secret.said": "an agent said a secret that it has no access to",
  "delivery.accepted": "the platform has a message",
  "delivery.confirmed": "it says that the message arrived",
  "delivery.failed": "an attempt failed, or the message is dead",
  "mounts.judged": "what a container gets to see of the machine",
  "mount.refused": "a mount may not be used any more",
  "secrets.appeared": "what looks like secrets is in a mount now",
  "setuid.removed": "setuid bits were removed in a mount",
  "execution-point.changed": "a file that programs on the host run automatically has changed",
  "execution-points.counted": "how many did, after them",
  "container.created": "a container is about to be created",
  "container.started": "it is about to be started",
  "container.attested": "it is what was asked for, and ready",
  "container.adopted": "one of an earlier start is taken over",
  "container.frozen": "it is paused until the next message",
  "container.thawed": "it goes on",
  "container.refused": "none could be had",
  "container.stopped": "it has ended, or is being ended",
  "container.removed": "one that nobody used was removed",
  "container-output.closed": "a session's log is full and was closed",
  "container-output.pruned": "an old log is about to be removed",
} as const satisfies Record<EventType, string>;

const names = Object.keys(eventTypes) as EventType[];

/** The types that a pattern means: one type, or those that begin alike, such as `turn.*`. Throws AppError `bad_input` for none. */
export function matchTypes(pattern: string): readonly EventType[] {
  const found = pattern.endsWith(".*")
    ? names.filter((name) => name.startsWith(pattern.slice(0, -1)))
    : names.filter((name) => name === pattern);
  if (found.length > 0) return found;
  const patterns = [...names, ...new Set(names.map((name) => `${name.split(".")[0]}.*`))];
  const similar = nearest(pattern, patterns);
  throw new AppError("bad_input", `There is no event type "${pattern}".`, {
    fix: similar === undefined ? "see the table in docs/events.md" : `did you mean "${similar}"?`,
  });
}
