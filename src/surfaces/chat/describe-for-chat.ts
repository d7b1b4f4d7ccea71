import type { Group } from "../../domain/chats/group.ts";
import { formatUsd } from "../../lib/text/format-usd.ts";

/** A few lines for `/status` in a chat: nothing that members may not know. */
export function describeForChat(options: {
  readonly assistantName: string;
  /** State of its agents, when it has several. */
  readonly agents?:
    | readonly { readonly name: string; readonly active: boolean; readonly waiting: number }[]
    | undefined;
  readonly models: readonly string[];
  readonly waiting: number;
  readonly active: boolean;
  readonly container: string | undefined;
  readonly group: Group;
  readonly today: { readonly tokens: number; readonly usd: number };
  /** Daily US dollar limits of the group and of all groups. */
  readonly usdPerDay: { readonly group: number | undefined; readonly total: number | undefined };
  /** Codes of calls that its turns have put to people. */
  readonly asked: readonly string[];
  /** Reason why the agent is pausing, if it is. */
  readonly rest: string | undefined;
}): string {
  const { assistantName, models, waiting, active, container, group, today, usdPerDay, asked, rest } = options;
  const agents = (options.agents ?? []).map(
    ({ name, active: works, waiting: count }) => `${name}: ${works ? "working" : "idle"}, ${count} waiting.`,
  );
  return [
    `${assistantName} in group ${group.name}: ${active ? "working" : "idle"}, ${waiting} waiting.`,
    ...agents,
    `Container: ${container ?? "none (starts with the next message)"}. Model: ${models.join(", then ")}. Tokens today: ${today.tokens}.`,
    describeCost(today.usd, usdPerDay),
    ...(asked.length === 0 ? [] : [`Waiting for people to answer ${asked.join(", ")}.`]),
    ...(rest === undefined ? [] : [rest]),
  ].join("\n");
}

function describeCost(usd: number, { group, total }: { group: number | undefined; total: number | undefined }): string {
  const of = group === undefined ? "" : ` of ${formatUsd(group)}`;
  const all = total === undefined ? "" : ` All groups together may spend ${formatUsd(total)} a day.`;
  return `Cost today (UTC): ${formatUsd(usd)}${of}.${all}`;
}
