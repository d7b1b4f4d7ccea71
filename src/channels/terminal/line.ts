import { nearest } from "../../lib/text/nearest.ts";
import { visibleLines } from "../../lib/text/visible.ts";
import { wrapLine } from "../../lib/text/columns.ts";

/** A line as a person typed it: who says what in which group. */
export interface SpokenLine {
  readonly group: string;
  readonly member: string;
  readonly text: string;
}

/** A line that may be for a group whose name was misspelt. */
export interface MisaddressedLine {
  readonly group: string;
  readonly member: string;
  /** The existing group. */
  readonly meant: string;
}

/** Group and member of a line that names neither. */
const byDefault = { group: "main", member: "you" } as const;

/**
 * Reads `group/member: text` for an existing group. Any other line is text of member `you` in group `main`, unless the
 * word before its slash resembles a group's name. Undefined for a blank line.
 */
export function parseLine(line: string, groups: readonly string[]): SpokenLine | MisaddressedLine | undefined {
  const whole = line.trim();
  const prefix = /^([\p{L}\p{N}][\p{L}\p{N}_-]{0,63})\/([^\s/:][^/:]{0,63}):(.*)$/su.exec(whole);
  const [, group = "", member = "", said = ""] = prefix ?? [];
  if (prefix && groups.includes(group)) return spoken(group, member.trim(), said.trim());
  const meant = prefix ? nearest(group, groups) : undefined;
  return meant === undefined ? spoken(byDefault.group, byDefault.member, whole) : { group, member, meant };
}

function spoken(group: string, member: string, text: string): SpokenLine | undefined {
  return text === "" ? undefined : { group, member, text };
}

const indent = "  ";
/** On a terminal that is narrower nothing is wrapped for. */
const leastColumns = 20;

/**
 * Formats the text after `group/member: `: control characters become visible and further lines are indented, so that no
 * text can imitate another line. `columns` wraps at words; `taken` columns of the first line are used.
 */
export function formatText(text: string, room?: { readonly columns: number; readonly taken: number }): string {
  const lines = visibleLines(text.replaceAll("\r\n", "\n")).split("\n");
  if (!room) return lines.join(`\n${indent}`);
  const columns = Math.max(room.columns, leastColumns);
  const next = columns - indent.length;
  return lines
    .flatMap((line, index) => wrapLine(line, { first: index === 0 ? columns - room.taken : next, next }))
    .join(`\n${indent}`);
}
