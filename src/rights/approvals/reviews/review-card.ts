import type { NewApproval } from "../../../domain/rights/approval.ts";
import {
  countChanges,
  type Review,
  type ReviewedChange,
  type ReviewedKind,
  reviewOf,
} from "../../../domain/rights/review.ts";
import { ownCommand } from "../../../lib/process/own-command.ts";
import { plainSentence } from "../../../lib/text/plain-words.ts";
import { visible } from "../../../lib/text/visible.ts";
import { writeOut } from "../../../lib/text/write-out.ts";
import { inMinutes } from "../card.ts";

/** Room for paths and diffs on a card. */
const shownChars = 3_000;
const shownLines = 80;
/** Paths that a card lists, most; the others are counted. */
const listedPaths = 40;

const marks: Readonly<Record<ReviewedKind, string>> = { added: "+", changed: "~", deleted: "-" };

export interface ReviewCardOptions {
  readonly minutes: number;
  /** True when somebody in the chat has the required role. */
  readonly canAnswerHere: boolean;
  /** The channel tells who reacts to what. */
  readonly byThumb: boolean;
  /** Name of the agent. */
  readonly agent: string;
  /** There are more changes than can be listed. */
  readonly isCut: boolean;
}

/** Block of a card, and the changes with a mark on those that it shows whole. */
export interface ShownReview {
  readonly block: string;
  readonly changes: readonly ReviewedChange[];
}

/** Chooses what a card shows: first the paths, then the diffs, in their order, as long as there is room. */
export function showReview(changes: readonly ReviewedChange[]): ShownReview {
  const listed = changes.slice(0, listedPaths).map(describeChange);
  const more = changes.length - listed.length;
  const block = [...listed, ...(more > 0 ? [`… and ${more} more`] : [])];
  let room = { chars: shownChars - block.join("\n").length, lines: shownLines - block.length };
  const shown = changes.map((change, index): ReviewedChange => {
    const isListed = index < listedPaths;
    if (isListed && isSaidByItsLine(change)) return { ...change, isShown: true };
    const text = change.diff === undefined ? undefined : writeOut(`${visible(change.path)}:\n${change.diff}`);
    const lines = text?.split("\n").length ?? 0;
    if (!isListed || text === undefined || text.length > room.chars || lines > room.lines) return change;
    room = { chars: room.chars - text.length, lines: room.lines - lines };
    block.push("", text);
    return { ...change, isShown: true };
  });
  return { block: block.join("\n"), changes: shown };
}

/** There is nothing to see but what its line says. */
function isSaidByItsLine({ kind, after, bytes, diff, note }: ReviewedChange): boolean {
  if (kind === "deleted" || after === undefined) return true;
  return diff === undefined && bytes === 0 && note !== undefined;
}

function describeChange(change: ReviewedChange): string {
  const { path, kind, bytes, note, planted, diff } = change;
  const notes = [
    ...(planted === undefined ? [] : [`programs of the operator's run it by themselves: ${planted}`]),
    ...(note === undefined ? [] : [note]),
    ...(diff === undefined && kind !== "deleted" && bytes > 0 ? [`${bytes} bytes`] : []),
  ];
  const said = notes.length === 0 ? "" : ` (${notes.join("; ")})`;
  return writeOut(`${planted === undefined ? "" : "⚠ "}${marks[kind]} ${visible(path)}${visible(said)}`);
}

/** True when all that is asked was shown, so that a bare yes means something. */
export function isShownWhole({ input }: Pick<NewApproval, "input">): boolean {
  return reviewOf({ input }).changes.every(({ isShown }) => isShown === true);
}

/** Text of the card. */
export function reviewCard(
  approval: Pick<NewApproval, "code" | "input" | "approvers" | "quorum">,
  block: string,
  options: ReviewCardOptions & { readonly group: string },
): string {
  const review = reviewOf(approval);
  const { code, approvers, quorum } = approval;
  const { group, minutes, canAnswerHere, byThumb } = options;
  const whole = ownCommand(`mounts diff ${group} ${review.target}`);
  const isWhole = isShownWhole(approval);
  const many = quorum > 1 ? ` ${quorum} different people must apply it.` : "";
  const ways = `/apply ${code} [path…] or /discard ${code} [path…]${thumbs(byThumb, isWhole)}`;
  return [
    firstLine(code, review, options),
    "```",
    block,
    "```",
    ...(isWhole ? [] : [`Not all of it is shown here: ${whole}`]),
    ...(options.isCut ? ["There are more changes than can be listed; they come next."] : []),
    `Without an answer within ${inDays(minutes)} it stays undecided.${many}`,
    canAnswerHere
      ? `Answer (${approvers} or higher): ${ways}`
      : `Nobody here can answer (it takes the role ${approvers}); the operator can: ${whole}`,
  ].join("\n");
}

function firstLine(code: string, { target, changes }: Review, { agent }: ReviewCardOptions): string {
  const planted = changes.filter((change) => change.planted !== undefined).length;
  const warning = planted === 0 ? "" : ` ⚠ ${planted} of them would be run by programs of the operator's.`;
  const what = `${plainSentence(agent)} has changed the folder ${target}: ${countChanges(changes)}.${warning}`;
  return `${what} Nothing of it is in the real folder yet. Code ${code}`;
}

function thumbs(byThumb: boolean, isWhole: boolean): string {
  if (!byThumb) return "";
  return isWhole ? ", or react with 👍 (apply all) or 👎 (discard all)" : ", or react with 👎 (discard all)";
}

/** `7 days`, `5 hours`, `30 minutes`. */
function inDays(minutes: number): string {
  const days = Math.round(minutes / (24 * 60));
  if (days > 1) return `${days} days`;
  const hours = Math.round(minutes / 60);
  return hours > 1 ? `${hours} hours` : inMinutes(minutes);
}
