import type { Group } from "../domain/group.ts";
import { describeRest } from "../intake/resting-notice.ts";

/** A few lines for `/status` in a chat: nothing that members may not know. */
export function describeForChat(parts: {
  readonly assistantName: string;
  readonly models: readonly string[];
  readonly waiting: number;
  readonly active: boolean;
  readonly container: string | undefined;
  readonly group: Group;
  readonly tokensToday: number;
  readonly resting: Parameters<typeof describeRest>[0] | undefined;
}): string {
  const { resting } = parts;
  const { assistantName, models, waiting, active, container, group, tokensToday } = parts;
  return [
    `${assistantName} in group ${group.name}: ${active ? "working" : "idle"}, ${waiting} waiting.`,
    `Container: ${container ?? "none (starts with the next message)"}. Model: ${models.join(", then ")}. Tokens today: ${tokensToday}.`,
    ...(resting ? [describeRest(resting)] : []),
  ].join("\n");
}
