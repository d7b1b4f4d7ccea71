import type { Approval, KeptChange } from "../../../domain/rights/approval.ts";
import { type ReviewedChange, reviewOf } from "../../../domain/rights/review.ts";
import { visible } from "../../../lib/text/visible.ts";
import { writeOut } from "../../../lib/text/write-out.ts";

/** Paths that one message lists; the others are counted. */
const listedPaths = 20;

/** Outcome of a decided review. */
export interface ReviewResult {
  readonly done: readonly Pick<ReviewedChange, "path">[];
  readonly kept: readonly KeptChange[];
}

/** Says in the chat what became of decided changes. `rest`: those of the same card that still wait. */
export function describeEffect(
  approval: Pick<Approval, "code" | "state" | "decider" | "input">,
  { done, kept }: ReviewResult,
  rest: { readonly code: string; readonly count: number } | undefined,
): string {
  const { target } = reviewOf(approval);
  const did = approval.state === "allowed" ? "applied" : "discarded";
  const who = approval.decider?.name ?? "Somebody";
  const waiting =
    rest === undefined ? "" : ` ${changesOf(rest.count)} still ${rest.count === 1 ? "waits" : "wait"}: ${rest.code}.`;
  return [
    `${who} has ${did} ${changesOf(done.length)} in ${target} (${approval.code}).${waiting}`,
    ...(done.length > 0 ? [pathBlock(done.map(({ path }) => path))] : []),
    ...(kept.length > 0
      ? [`Not ${did}, and still there for the agent:`, pathBlock(kept.map(({ path, reason }) => `${path} ${reason}`))]
      : []),
  ].join("\n");
}

/** Said once where a decision cannot be carried out at once. */
export function describeWaiting({ code, state, input }: Pick<Approval, "code" | "state" | "input">): string {
  const { target, changes } = reviewOf({ input });
  const done = state === "allowed" ? "applied" : "discarded";
  const what = changes.length === 1 ? "One change" : `${changes.length} changes`;
  return `${what} in ${target} (${code}) will be ${done} when the agent has finished what it is doing there.`;
}

/** `one change`, `3 changes`. */
function changesOf(count: number): string {
  return count === 1 ? "one change" : `${count} changes`;
}

function pathBlock(paths: readonly string[]): string {
  const more = paths.length - listedPaths;
  const listed = paths.slice(0, listedPaths).map((path) => writeOut(visible(path)));
  return ["```", ...listed, ...(more > 0 ? [`… and ${more} more`] : []), "```"].join("\n");
}

/** Tells the agent once what people decided. */
export function tellAgent(settled: readonly Approval[], folderOf: (target: string) => string): string {
  const sentences = settled.map((approval) => {
    const { target, changes } = reviewOf(approval);
    const kept = new Set((approval.kept ?? []).map(({ path }) => path));
    const done = changes.filter(({ path }) => !kept.has(path)).map(({ path }) => visible(path));
    const words = approval.state === "allowed" ? "applied these changes of yours" : "discarded these changes of yours";
    const not = [...kept].map((path) => visible(path));
    return [
      done.length > 0 ? `In ${folderOf(target)} people have ${words}: ${someOf(done)}.` : "",
      not.length > 0 ? `These of ${folderOf(target)} could not be, and are still undecided: ${someOf(not)}.` : "",
    ].join(" ");
  });
  return sentences.join(" ").trim();
}

function someOf(paths: readonly string[]): string {
  const more = paths.length > listedPaths ? ` and ${paths.length - listedPaths} more` : "";
  return `${paths.slice(0, listedPaths).join(", ")}${more}`;
}
