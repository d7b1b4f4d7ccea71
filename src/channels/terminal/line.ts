import { visibleLines } from "../../lib/visible.ts";

/** A line as a person typed it: who says what in which group. */
export interface SpokenLine {
  readonly group: string;
  readonly member: string;
  readonly text: string;
}

/** Whom a line belongs to that says nothing about it. */
const byDefault = { group: "main", member: "you" } as const;

/**
 * Reads `group/member: text`. A line that does not begin like that is said as a whole by member `you` in group `main`.
 * Undefined when nothing is said.
 */
export function parseLine(line: string): SpokenLine | undefined {
  const prefix = /^([\p{L}\p{N}][\p{L}\p{N}_-]{0,63})\/([^\s/:][^/:]{0,63}):(.*)$/su.exec(line.trim());
  const [, group = byDefault.group, member = byDefault.member, said = line] = prefix ?? [];
  const text = said.trim();
  return text === "" ? undefined : { group, member: member.trim(), text };
}

/**
 * What follows `group/member: ` on a terminal: characters that steer a terminal are made visible, and further lines are
 * indented, so that no text can look like somebody else's line.
 */
export function formatText(text: string): string {
  return visibleLines(text.replaceAll("\r\n", "\n")).replaceAll("\n", "\n  ");
}
