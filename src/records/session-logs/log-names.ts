import { readdirSync } from "node:fs";

/** The log of a session, in its folder, that is being written. */
export const sessionLogFile = "log.jsonl";

/** Suffix of a full log whose digest is not recorded yet. */
const closingSuffix = ".closing";

/** A full log: `log.jsonl.1` is the oldest. */
export interface FullLog {
  /** Present name. */
  readonly name: string;
  /** Name once its digest is recorded. */
  readonly finalName: string;
  readonly number: number;
  readonly isClosing: boolean;
}

/** Name of a full log until its digest is recorded. */
export function closingNameOf(path: string): string {
  return `${path}${closingSuffix}`;
}

/** Undefined for what is no full log. */
export function parseFullLog(name: string): FullLog | undefined {
  const [, finalName, digits, closing] = /^(log\.jsonl\.(\d{1,9}))(\.closing)?$/.exec(name) ?? [];
  if (finalName === undefined) return undefined;
  return { name, finalName, number: Number(digits), isClosing: closing !== undefined };
}

/** Full logs among these names, oldest first. */
export function fullLogsAmong(names: readonly string[]): FullLog[] {
  return names
    .map(parseFullLog)
    .filter((log) => log !== undefined)
    .toSorted((a, b) => a.number - b.number);
}

/** Next name for a full log. */
export function nextClosingName(folder: string): string {
  const last = fullLogsAmong(readdirSync(folder)).at(-1)?.number ?? 0;
  return closingNameOf(`${sessionLogFile}.${last + 1}`);
}
