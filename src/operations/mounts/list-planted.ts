import * as z from "zod";

import type { UndecidedFolder } from "../../rights/approvals/reviews/review-service.ts";
import type { RecordedPointChange } from "../../stores/tables/execution-points.ts";
import type { Store } from "../../stores/contract/store.ts";
import { visible, visibleLines } from "../../lib/text/visible.ts";
import { defineOperation } from "../definition/define-operation.ts";
import { limit, list, name, time } from "../definition/schemas.ts";
import type { ReviewNeeds } from "./review-operations.ts";

/** The parts that know what agents put where programs of the operator's run it. */
interface PlantedNeeds extends ReviewNeeds {
  readonly store: { readonly executionPoints: Pick<Store["executionPoints"], "ofGroup"> };
}

const plantedView = z.strictObject({
  target: z.string(),
  path: z.string().describe("Below the folder"),
  kind: z.string().describe("The kind of program that runs it by itself"),
  change: z.enum(["added", "changed", "removed"]),
  state: z.enum(["made", "waiting"]).describe("made: it is in the folder; waiting: it gets there when people apply it"),
  at: time.optional(),
  turn: z.string().optional().describe("The turn that changed it, where that is known"),
  code: z.string().optional().describe("Of the card that asks about it"),
  bytes: z.number().optional(),
  sha256: z.string().optional(),
  diff: z.string().optional().describe("A unified diff, where both sides are short texts and look like no secrets"),
});

type PlantedView = z.infer<typeof plantedView>;

export const listPlanted = defineOperation<PlantedNeeds>()({
  name: "mounts.planted",
  summary: "list files in mounted folders that programs run by themselves and that agents made or changed",
  input: z.strictObject({ group: name, target: name.optional().describe("only this mount"), limit: limit(100) }),
  output: list(plantedView),
  may: { scope: "read" },
  effect: "none",
  rest: "GET /mounts/{group}/planted",
  listAs: "planted",
  cli: {
    args: ["group", "target"],
    say: (planted, { group }) =>
      planted.map(describe).join("\n\n") ||
      `The agent of the group ${group} has changed nothing that programs run by themselves.`,
  },
  run: async ({ store, reviewService }, { group, target, limit: most }, { signal }) => {
    const folders = await reviewService.list(group, undefined, signal);
    const waiting = folders.filter((folder) => target === undefined || folder.target === target).flatMap(viewFolder);
    const made = await store.executionPoints.ofGroup(group, { target, limit: most });
    return [...waiting, ...made.map(viewRecorded)].slice(0, most);
  },
});

const kinds = { added: "added", changed: "changed", deleted: "removed" } as const;

function viewFolder({ target, code, changes }: UndecidedFolder): PlantedView[] {
  return changes.flatMap(({ path, kind, planted, after, text }) => {
    if (planted === undefined) return [];
    const of = { bytes: after?.size, sha256: after?.sha256, diff: text };
    return [{ target, path, kind: planted, change: kinds[kind], state: "waiting" as const, code, ...of }];
  });
}

function viewRecorded(change: RecordedPointChange): PlantedView {
  return { state: "made", ...change };
}

function describe({ target, path, kind, change, at, turn, code, bytes, sha256, diff }: PlantedView): string {
  const notes = [
    kind,
    ...(at === undefined
      ? [`waits for people${code === undefined ? "" : ` (${code})`}`]
      : [new Date(at).toISOString()]),
    ...(turn === undefined ? [] : [`turn ${turn}`]),
    ...(bytes === undefined ? [] : [`${bytes} bytes`]),
    ...(sha256 === undefined ? [] : [`SHA-256 ${sha256}`]),
  ];
  const line = `${change} ${target}/${visible(path)} (${notes.join(", ")})`;
  return diff === undefined || diff === "" ? line : `${line}\n${visibleLines(diff)}`;
}
