import { formatUsd } from "../../lib/text/format-usd.ts";
import type { GroupStatus } from "./status-view.ts";

/** A few lines for `/status`: nothing that members may not know. A container's name says something to the operator. */
export function describeGroupStatus(status: GroupStatus, isMain: boolean): string {
  const { group, assistant, agents = [], models, waiting, active, container, today, usdPerDay, asked, rest } = status;
  const named = container && (isMain ? `${container.name} (${container.state})` : container.state);
  return [
    `${assistant} in group ${group}: ${active ? "working" : "idle"}, ${waiting} waiting.`,
    ...agents.map((agent) => `${agent.name}: ${agent.active ? "working" : "idle"}, ${agent.waiting} waiting.`),
    `Container: ${named ?? "none (starts with the next message)"}. Model: ${models.join(", then ")}. Tokens today: ${today.tokens}.`,
    describeCost(today.usd, usdPerDay),
    ...(asked.length === 0 ? [] : [`Waiting for people to answer ${asked.join(", ")}.`]),
    ...(rest === undefined ? [] : [rest]),
  ].join("\n");
}

function describeCost(usd: number, { group, total }: GroupStatus["usdPerDay"]): string {
  const of = group === null ? "" : ` of ${formatUsd(group)}`;
  const all = total === null ? "" : ` All groups together may spend ${formatUsd(total)} a day.`;
  return `Cost today (UTC): ${formatUsd(usd)}${of}.${all}`;
}
