import type { ToolCall } from "../domain/turns/model.ts";
import type { ToolRegistry } from "./registry.ts";

export interface ActivityOptions {
  readonly registry: Pick<ToolRegistry, "get">;
  /** Takes secrets out of what the model wrote. */
  readonly redact: (text: string) => string;
}

const shownChars = 40;

/** Describes calls for members, such as `running a command (npm test) and 1 more`. */
export function describeActivity(calls: readonly ToolCall[], { registry, redact }: ActivityOptions): string {
  const [first, ...more] = calls;
  if (!first) return "thinking";
  const { doing, shows } = registry.get(first.name)?.activity ?? { doing: `using ${first.name}` };
  const shown = shows === undefined ? "" : excerpt(redact(fieldOf(first.input, shows)));
  const others = more.length === 0 ? "" : ` and ${more.length} more`;
  return `${doing}${shown === "" ? "" : ` (${shown})`}${others}`;
}

/** The call may not have been checked yet, so anything can be there. */
function fieldOf(input: unknown, field: string): string {
  if (typeof input !== "object" || input === null || !Object.hasOwn(input, field)) return "";
  const value: unknown = (input as Record<string, unknown>)[field];
  return typeof value === "string" ? value : "";
}

/** The first line, cut after what was redacted, so that no half of a secret is left. */
function excerpt(text: string): string {
  const [line = ""] = text.trim().split("\n");
  const inGroup = line.replaceAll("/workspace/group/", "");
  const characters = Array.from(inGroup);
  return characters.length <= shownChars ? inGroup : `${characters.slice(0, shownChars - 1).join("")}…`;
}
