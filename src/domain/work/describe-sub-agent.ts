import type { SubAgent } from "./sub-agent.ts";
import { shorten } from "../../lib/text/visible.ts";

/** All that are handed over, and the line that says how many were not. */
const listedFiles = 101;

/** Describes an ended sub-agent for its parent: outcome, words and files. */
export function describeCarriedOut({ id, state, text = "", files }: SubAgent): string {
  const how = {
    running: `${id} is at work.`,
    done: `${id} is done. Its answer:`,
    failed: `${id} could not do it:`,
    cancelled: `${id} was cancelled:`,
    expired: `${id} was ended:`,
  }[state];
  return [how, text, ...fileLines(files)].filter((part) => part !== "").join("\n");
}

function fileLines(files: readonly string[]): string[] {
  if (files.length === 0) return [];
  const more = files.length > listedFiles ? [`and ${files.length - listedFiles} more`] : [];
  return ["Its files:", ...files.slice(0, listedFiles), ...more];
}

/** One line about it, for its parent. */
export function describeStanding({ id, state, task, background }: SubAgent): string {
  const where = background ? ", in the background" : "";
  return `${id} (${state}${where}): ${shorten(task.replaceAll(/\s+/gu, " "), 200)}`;
}
