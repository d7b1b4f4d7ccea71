import type { Group } from "../domain/group.ts";

/** A few lines for `/status` in a chat: nothing that members may not know. */
export function describeForChat(options: {
  readonly assistantName: string;
  readonly models: readonly string[];
  readonly waiting: number;
  readonly active: boolean;
  readonly container: string | undefined;
  readonly group: Group;
  readonly tokensToday: number;
  /** Why the agent does not answer for a while, if so. */
  readonly rest: string | undefined;
}): string {
  const { assistantName, models, waiting, active, container, group, tokensToday, rest } = options;
  return [
    `${assistantName} in group ${group.name}: ${active ? "working" : "idle"}, ${waiting} waiting.`,
    `Container: ${container ?? "none (starts with the next message)"}. Model: ${models.join(", then ")}. Tokens today: ${tokensToday}.`,
    ...(rest === undefined ? [] : [rest]),
  ].join("\n");
}
