import type { ToolCall } from "../domain/model.ts";

/** What a tool does, in words for members, and the field of its input that says with what. */
interface Activity {
  readonly doing: string;
  readonly shows?: string;
}

const activities: Readonly<Record<string, Activity>> = {
  shell: { doing: "running a command", shows: "command" },
  read_file: { doing: "reading a file", shows: "path" },
  write_file: { doing: "writing a file", shows: "path" },
  edit_file: { doing: "changing a file", shows: "path" },
  list_files: { doing: "looking through files", shows: "path" },
  search_files: { doing: "searching files", shows: "pattern" },
  view_image: { doing: "looking at a picture", shows: "path" },
  send_file: { doing: "sending a file", shows: "path" },
  send_message: { doing: "writing a message" },
  react: { doing: "reacting to a message" },
};

const shownChars = 40;

/** What these calls do, for members, such as `running a command (npm test)`. `redact` takes secrets out of what the model wrote. */
export function describeActivity(calls: readonly ToolCall[], redact: (text: string) => string): string {
  const [first, ...more] = calls;
  if (!first) return "thinking";
  const { doing, shows } = activities[first.name] ?? { doing: `using ${first.name}` };
  const shown = shows === undefined ? "" : excerpt(redact(fieldOf(first.input, shows)));
  const others = more.length === 0 ? "" : ` and ${more.length} more`;
  return `${doing}${shown === "" ? "" : ` (${shown})`}${others}`;
}

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
