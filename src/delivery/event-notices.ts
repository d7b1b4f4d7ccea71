import type { Logger } from "pino";

import type { EventType, HostEvent } from "../domain/events/event.ts";
import { describePackages } from "../domain/sandbox/packages.ts";
import { formatUsd } from "../lib/text/format-usd.ts";
import { plainSentence } from "../lib/text/plain-words.ts";
import type { TellOperator } from "./operator-notices.ts";
import { ownCommand } from "../lib/process/own-command.ts";

/** A process of a plugin that has failed so often in a row will hardly mend itself. */
const toldAfterFailures = 3;
/** Names that one sentence holds. */
const mostNamed = 5;

/** Tells the operator what events mean: in the host's log by name, in a main group by number. */
export function createEventNotices(logger: Logger, tell: TellOperator): (event: HostEvent) => void {
  // The host's own log is what `crabpot logs` shows of a group as well.
  const warn = ({ group, session }: HostEvent, text: string): void => logger.warn({ group, session }, text);
  const notices: { readonly [Type in EventType]?: (event: HostEvent<Type>) => void } = {
    "setuid.removed": (event) => {
      const places = event.data.files.map(({ folder, path }) => `${folder}/${path}`);
      warn(event, `setuid or setgid was removed from ${named(places, event.data.count)}`);
    },
    "execution-points.counted": (event) => noticeExecutionPoints(event, (text) => warn(event, text), tell),
    "secrets.appeared": (event) => {
      const places = event.data.secrets.map(({ target, path }) => `${target}/${path}`);
      warn(
        event,
        `files that look like secrets have appeared where the agent can read them: ${named(places, event.data.count)}`,
      );
    },
    "mount.refused": (event) => {
      const { group, data } = event;
      warn(event, data.refused);
      tell({ text: `Group ${group} has lost one of its mounts: ${plainSentence(data.refused)}` });
    },
    "instructions.changed": ({ group, data }) =>
      logger.warn({ group, ...data }, "a group's instructions have changed since its last turn"),
    "budget.warned": (event) => {
      const text = describeBudget(event);
      logger.warn({ group: event.group, ...event.data }, "much of a day's budget is used");
      tell({ text });
    },
    "plugin.refused": ({ data: { plugin, reason } }) =>
      tell({ text: `The plugin ${plugin} is not used: ${plainSentence(reason)} See ${ownCommand("plugins list")}.` }),
    "plugin.ended": ({ data: { plugin, reason, failures } }) => {
      if (failures === toldAfterFailures)
        tell({
          text: `The plugin ${plugin} keeps failing: ${plainSentence(reason)} Restarting it with increasing delays.`,
        });
    },
    "admission.requested": ({ data }) =>
      logger.info(data, `a chat asks to become a group; to let it in: ${ownCommand(`chats approve ${data.code}`)}`),
    "image.failed": ({ data }) => noticeFailedImage(data, tell),
    "skills.synced": ({ data: { news, failed } }) => {
      for (const { name, reason } of failed)
        logger.info({ skill: name, reason }, "the source of a skill could not be asked");
      if (news.length === 0) return;
      logger.info({ skills: news }, "sources of skills have other versions");
      tell({
        text: `There are new versions of ${named(news, news.length)}. To see and install them: ${ownCommand("skills update")}`,
      });
    },
    "egress.judged": (event) => noticeEgress(event, { logger, tell }),
  };
  return (event) => (notices[event.type] as ((event: HostEvent) => void) | undefined)?.(event);
}

function noticeExecutionPoints(
  { group = "", data: { count, first } }: HostEvent<"execution-points.counted">,
  warn: (text: string) => void,
  tell: TellOperator,
): void {
  const files = count === 1 ? "a file" : `${count} files`;
  tell({
    text: `The agent of group ${group} has changed ${files} in a mounted folder that your programs may run automatically. Check before you work there: ${ownCommand(`mounts planted ${group}`)}`,
    hiddenFrom: group,
  });
  const places = first.map(({ target, path, change }) => `${target}/${path} (${change})`);
  warn(`check these before you use them on the host, where programs run them automatically: ${named(places, count)}`);
}

/** The log has it from where it was built. Lines of a build may hold a package's own words. */
function noticeFailedImage(
  { groups, packages, reason, again }: HostEvent<"image.failed">["data"],
  tell: TellOperator,
): void {
  if (again) return;
  const whose = groups.length === 1 ? `group ${groups[0]}` : `the groups ${named(groups, groups.length)}`;
  tell({
    text: `Packages for ${whose} could not be installed (${describePackages(packages)}): ${plainSentence(reason)} The group continues without them. To retry: ${ownCommand("image build")}`,
  });
}

function noticeEgress(
  { group, data: { verdict, destination } }: HostEvent<"egress.judged">,
  { logger, tell }: { readonly logger: Logger; readonly tell: TellOperator },
): void {
  if (verdict === "masked") logger.warn({ group, ...destination }, "a secret was sent back, and was masked");
  if (verdict !== "barred") return;
  const place = `${destination?.host ?? ""}:${destination?.port ?? 0}`;
  logger.error({ group, ...destination }, "a destination has sent secrets back and is blocked for this group");
  tell({
    text: `${place} has sent back a secret of group ${group} several times, so it is blocked for that group until crabpot restarts. Bind the secret to the methods and paths that need it: docs/egress.md.`,
  });
}

function describeBudget({ group, data: { limit, used, allowed } }: HostEvent<"budget.warned">): string {
  const whose = group === undefined ? "of all groups together" : `of group ${group}`;
  const amounts = limit.endsWith("usdPerDay")
    ? `${formatUsd(used)} of ${formatUsd(allowed)}`
    : `${used.toLocaleString("en-US")} of ${allowed.toLocaleString("en-US")} tokens`;
  return `${Math.floor((used * 100) / allowed)} % of today's budget ${whose} (${amounts}) is used.`;
}

function named(places: readonly string[], count: number): string {
  const more = count - Math.min(places.length, mostNamed);
  return `${places.slice(0, mostNamed).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
