import { formatUsd } from "../../../lib/text/format-usd.ts";
import { formatDuration, formatTime } from "../../../lib/time/formats.ts";
import { ownCommand } from "../../../lib/process/own-command.ts";
import type { HostStatus } from "../../../operations/host/operations.ts";
import type { Output } from "../output.ts";

export function showStatus(output: Output, status: HostStatus): void {
  output.facts(status, describeStatus(status));
}

/** Groups that are named; the others are counted. `--json` has them all. */
const namedGroups = 5;

function describeWaiting(waiting: HostStatus["waiting"]): string | undefined {
  const named = waiting
    .slice(0, namedGroups)
    .map(({ group, messages, oldestAt }) => `${group} ${messages} (oldest ${formatDuration(Date.now() - oldestAt)})`);
  const others = waiting.length - named.length;
  return [...named, ...(others > 0 ? [`${others} more groups`] : [])].join(", ");
}

function describeStatus(status: HostStatus): [string, string | number | undefined][] {
  const { containers, turns, waiting, outbox, today } = status;
  return [
    ["host", `crabpot ${status.version}, pid ${status.pid}, home ${status.home}`],
    ["up", `${formatDuration(status.uptimeSeconds * 1000)}, since ${formatTime(status.startedAt)} UTC`],
    ["intake", status.intake.open ? "open" : `stopped: ${status.intake.reason ?? ""}`],
    ["config", describeConfig(status.config)],
    ["engine", `${status.engine.ok ? "" : "unreachable: "}${status.engine.detail}`],
    ["models", status.models.join(", ")],
    ...status.channels.map((channel): [string, string] => [
      `channel ${channel.name}`,
      `${channel.state} since ${formatTime(channel.since)} UTC${channel.detail === undefined ? "" : ` (${channel.detail})`}`,
    ]),
    ["groups", status.groups],
    ...status.refusedMounts.map(({ group, target, reason }): [string, string] => [
      "mount refused",
      `${target} of group ${group}: ${reason} See ${ownCommand(`mounts check ${group}`)}`,
    ]),
    ...status.images.map(describeImage),
    ...status.idlePlugins.map(({ name, reason }): [string, string] => [`plugin ${name}`, `not used: ${reason}`]),
    [
      "requests",
      status.requests > 0 ? `${status.requests} from chats that ask to be groups: ${ownCommand("chats")}` : undefined,
    ],
    ["approvals", describeApprovals(status.approvals)],
    ...status.reviews.map(describeReview),
    [
      "heartbeat",
      status.nextHeartbeat
        ? `next of group ${status.nextHeartbeat.group} at ${formatTime(status.nextHeartbeat.at)} UTC`
        : undefined,
    ],
    [
      "hooks",
      status.hooksWithoutGroup.length > 0
        ? `the group of ${status.hooksWithoutGroup.join(", ")} is missing: ${ownCommand("hooks list")}`
        : undefined,
    ],
    ["skills", describeOutdated(status.outdatedSkills)],
    [
      "tasks",
      status.tasks.active + status.tasks.paused > 0
        ? `${status.tasks.active} scheduled, ${status.tasks.paused} paused: ${ownCommand("tasks list")}`
        : undefined,
    ],
    ["containers", `${containers.hot} hot, ${containers.busy} busy, ${describeMost(containers.max)}`],
    ["turns", `${turns.running} running${describeParked(turns.parked)}, ${turns.waitingGroups} groups waiting`],
    ["waiting", describeWaiting(waiting)],
    ["outbox", `${outbox.unsent} unsent, ${outbox.uncertain} of them uncertain, ${outbox.dead} dead`],
    [
      "today",
      `${today.calls} model calls, ${today.tokens} tokens, ${formatUsd(today.usd)}${today.usdPerDay === null ? "" : ` of ${formatUsd(today.usdPerDay)}`}`,
    ],
  ];
}

function describeImage({ group, state, reason = "" }: HostStatus["images"][number]): [string, string] {
  if (state !== "failed") return ["packages", `of group ${group} are being installed`];
  return ["packages", `of group ${group} could not be installed: ${reason} See ${ownCommand("image list")}`];
}

function describeReview({ group, target, code, changes }: HostStatus["reviews"][number]): [string, string] {
  const look = ownCommand(`mounts diff ${group} ${target}`);
  return ["review", `${changes} undecided in ${target} of group ${group} (${code}): ${look}`];
}

function describeApprovals(count: number): string | undefined {
  return count > 0 ? `${count} tool calls wait for an answer: ${ownCommand("approvals list")}` : undefined;
}

function describeOutdated(skills: readonly string[]): string | undefined {
  return skills.length === 0 ? undefined : `new version of ${skills.join(", ")}: ${ownCommand("skills update")}`;
}

function describeParked(parked: HostStatus["turns"]["parked"]): string {
  if (parked.length === 0) return "";
  const named = parked.slice(0, namedGroups).map(({ group, waitsFor }) => `${group}: ${waitsFor.join(", ")}`);
  const more = parked.length > namedGroups ? "; …" : "";
  return ` (${parked.length} of them parked for people: ${named.join("; ")}${more})`;
}

function describeConfig({ state, since, faults = [], restart = [] }: HostStatus["config"]): string {
  const at = `since ${formatTime(since)} UTC`;
  if (state === "invalid") return `not valid ${at}: ${faults.join("; ")}`;
  return state === "applied" ? `applied ${at}` : `needs a restart ${at}: ${restart.join(", ")}`;
}

function describeMost(max: number | null): string {
  return max === null ? "as many as memory allows" : `at most ${max}`;
}
