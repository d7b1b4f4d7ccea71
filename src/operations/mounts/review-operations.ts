import * as z from "zod";

import { countChanges } from "../../domain/rights/review.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { visible, visibleLines } from "../../lib/text/visible.ts";
import { notesOn } from "../../rights/approvals/reviews/review-changes.ts";
import type { ReviewService, ReviewOutcome, UndecidedFolder } from "../../rights/approvals/reviews/review-service.ts";
import { operator } from "../approvals/approval-view.ts";
import { defineOperation } from "../definition/define-operation.ts";
import { list, name } from "../definition/schemas.ts";

/** The part that shows and decides what agents changed in folders with review. */
export interface ReviewNeeds {
  readonly reviewService: Pick<ReviewService, "list" | "decide">;
}

const entryView = z.strictObject({
  entry: z.enum(["file", "folder", "link"]),
  sha256: z.string().optional(),
  size: z.number(),
  mode: z.number(),
  link: z.string().optional(),
  isScript: z.literal(true).optional().describe("It begins with #!"),
});

const changeView = z.strictObject({
  path: z.string().describe("Below the folder"),
  kind: z.enum(["added", "changed", "deleted"]),
  entry: z.enum(["file", "folder", "link"]),
  before: entryView.optional(),
  after: entryView.optional(),
  text: z.string().optional().describe("A unified diff, where both sides are text"),
  remarks: list(z.string()),
  planted: z.string().optional().describe("The kind of program that runs it by itself"),
  refused: z.string().optional().describe("Why it cannot be applied"),
  conflict: z.boolean().optional().describe("The real file has changed meanwhile: it is not applied"),
});

const folderView = z.strictObject({
  target: z.string(),
  source: z.string().describe("The real folder"),
  code: z.string().optional().describe("Of the card that asks about it"),
  digest: z.string().describe("SHA-256 over all changes"),
  cut: z.boolean().describe("There are more changes than are listed"),
  changes: list(changeView),
});

const outcomeView = z.strictObject({
  code: z.string(),
  target: z.string(),
  state: z
    .enum(["done", "counted", "waiting"])
    .describe("counted: more people must apply it; waiting: an agent is at work in the folder, it follows then"),
  done: list(z.string()),
  kept: list(z.strictObject({ path: z.string(), reason: z.string() })).describe("What stays undecided, and why"),
});

const target = name.optional().describe("the target of the mount; left out: the only one with review");

const paths = z
  .union([z.string().max(64_000), z.array(z.string().min(1).max(4_096)).max(1_000)])
  .transform((given) => (typeof given === "string" ? given.split("\n").filter((line) => line !== "") : given))
  .optional()
  .describe("files, or folders with all below them; left out: everything");

export const diffMounts = defineOperation<ReviewNeeds>()({
  name: "mounts.diff",
  summary: "show what agents changed in folders with review, and nobody has decided yet",
  input: z.strictObject({ group: name, target: name.optional() }),
  output: list(folderView),
  may: { scope: "read" },
  effect: "none",
  rest: "GET /mounts/{group}/changes",
  listAs: "folders",
  cli: {
    args: ["group", "target"],
    say: (folders, { group }) =>
      folders.map((folder) => describeFolder(folder, group)).join("\n\n") ||
      `The group ${group} has no folder with review.`,
  },
  run: async ({ reviewService }, { group, target: wanted }, { signal }) => {
    const folders = await reviewService.list(group, wanted, signal);
    return folders.map(({ changes, ...folder }) => ({ ...folder, changes: changes.map(viewChange) }));
  },
});

export const applyMount = defineOperation<ReviewNeeds>()({
  name: "mounts.apply",
  summary: "put changes of agents into the real folder",
  input: z.strictObject({ group: name, target, paths }),
  output: outcomeView,
  may: { scope: "admin" },
  effect: "change",
  rest: "POST /mounts/{group}/apply",
  record: ({ group, target: of = "", paths: only = [] }) => ({ group, target: of, paths: only.length }),
  cli: { args: ["group", "target", "paths"], rest: "paths", say: (outcome) => describeOutcome(outcome, "applied") },
  run: async ({ reviewService }, input, { actor }) =>
    reviewService.decide({ ...wishOf(input), allow: true, by: { ...operator, actor } }),
});

export const discardMount = defineOperation<ReviewNeeds>()({
  name: "mounts.discard",
  summary: "take changes of agents away, so that they see the real folder again",
  input: z.strictObject({ group: name, target, paths }),
  output: outcomeView,
  may: { scope: "admin" },
  effect: "destroy",
  rest: "POST /mounts/{group}/discard",
  record: ({ group, target: of = "", paths: only = [] }) => ({ group, target: of, paths: only.length }),
  cli: { args: ["group", "target", "paths"], rest: "paths", say: (outcome) => describeOutcome(outcome, "discarded") },
  run: async ({ reviewService }, input, { actor }) =>
    reviewService.decide({ ...wishOf(input), allow: false, by: { ...operator, actor } }),
});

function wishOf(input: {
  readonly group: string;
  readonly target?: string | undefined;
  readonly paths?: readonly string[] | undefined;
}) {
  const { group, target: of, paths: only } = input;
  return { group, target: of, paths: only !== undefined && only.length > 0 ? only : undefined };
}

function viewChange(change: UndecidedFolder["changes"][number]): z.input<typeof changeView> {
  const { path, kind, entry, before, after, text, remarks, planted, refused, conflict } = change;
  return { path, kind, entry, before, after, text, remarks, planted, refused, conflict };
}

const marks = { added: "+", changed: "~", deleted: "-" } as const;

function describeFolder(
  { target: of, source, code, changes, cut }: z.output<typeof folderView>,
  group: string,
): string {
  const asked = code === undefined ? "" : ` Code ${code}.`;
  const begin = `${of} (${visible(source)}): ${countChanges(changes)}.${asked}`;
  if (changes.length === 0) return begin;
  const planted = changes.filter((change) => change.planted !== undefined);
  const others = changes.filter((change) => change.planted === undefined);
  return [
    begin,
    ...[...planted, ...others].map(describeChange),
    ...(cut ? ["… and more, which come once these are decided"] : []),
    `Apply: ${ownCommand(`mounts apply ${group} ${of} [path …]`)}`,
    `Discard: ${ownCommand(`mounts discard ${group} ${of} [path …]`)}`,
  ].join("\n");
}

function describeChange(change: z.output<typeof changeView>): string {
  const { path, kind, entry, after, text, planted } = change;
  const notes = [
    ...(planted === undefined ? [] : [`programs on this machine run it by themselves: ${planted}`]),
    ...notesOn(change),
    ...(text === undefined && entry === "file" && after ? [`${after.size} bytes`] : []),
  ];
  const said = notes.length === 0 ? "" : ` (${visible(notes.join("; "))})`;
  const line = `${planted === undefined ? "" : "⚠ "}${marks[kind]} ${visible(path)}${said}`;
  return text === undefined || text === "" ? line : `${line}\n${visibleLines(text)}`;
}

function describeOutcome({ code, target: of, state, done, kept }: ReviewOutcome, did: string): string {
  if (state === "counted") return `More people must apply it (${code}).`;
  if (state === "waiting") return `An agent is at work in ${of}: it is ${did} when that is over (${code}).`;
  return [
    `${done.length} of ${done.length + kept.length} changes in ${of} ${did} (${code}).`,
    ...kept.map(({ path, reason }) => `not ${did}: ${visible(path)} ${visible(reason)}`),
  ].join("\n");
}

/** Operations on folders with review. */
export const reviewOperations = [diffMounts, applyMount, discardMount] as const;
