import type { Approval, ApprovalAnswer, Decider, KeptChange } from "../../../domain/rights/approval.ts";
import type { Group } from "../../../domain/chats/group.ts";
import { chooseChanges, reviewOf, reviewToolOf } from "../../../domain/rights/review.ts";
import { AppError } from "../../../lib/app-error.ts";
import { ownCommand } from "../../../lib/process/own-command.ts";
import { visible } from "../../../lib/text/visible.ts";
import type { ReviewChange, ReviewDiff, ReviewLayer, ReviewLayers } from "../../../sandbox/review/review-layer.ts";
import type { Store } from "../../../stores/contract/store.ts";
import { plantedAmong, type PlantedKind } from "./review-changes.ts";
import type { ReviewQuestions } from "./review-questions.ts";

export interface ReviewServiceOptions {
  readonly store: Pick<Store["approvals"], "get" | "open">;
  readonly layers: Pick<ReviewLayers, "of">;
  readonly groups: { byName(name: string): Group | undefined };
  readonly questions: Pick<ReviewQuestions, "openCode">;
  readonly answer: (answer: Omit<ApprovalAnswer, "at">) => Promise<Approval>;
  readonly plantedKind: PlantedKind;
}

/** A folder with review, with what is undecided in it. */
export interface UndecidedFolder extends Pick<ReviewDiff, "cut" | "digest"> {
  readonly target: string;
  /** The real folder. */
  readonly source: string;
  /** Code of the card that asks about it, if one is open. */
  readonly code: string | undefined;
  readonly changes: readonly (ReviewChange & { readonly planted: string | undefined })[];
}

/** A decision of the operator's. */
export interface ReviewWish {
  readonly group: string;
  /** Absent: the only one of the group. */
  readonly target: string | undefined;
  /** Files, or folders with all below them; absent: everything. */
  readonly paths: readonly string[] | undefined;
  readonly allow: boolean;
  readonly by: Decider;
}

/** Outcome of such a decision. */
export interface ReviewOutcome {
  readonly code: string;
  readonly target: string;
  /** `counted`: more people must apply it. `waiting`: an agent is at work in the folder; it follows then. */
  readonly state: "done" | "counted" | "waiting";
  readonly done: readonly string[];
  readonly kept: readonly KeptChange[];
}

/** Folders with review for operators, who decide about them by the same cards and answers as chats. */
export class ReviewService {
  readonly #options: ReviewServiceOptions;

  constructor(options: ReviewServiceOptions) {
    this.#options = options;
  }

  /** The group's folders as they are now. AppError `not_found` for a target that is none of them. */
  async list(group: string, target: string | undefined, signal: AbortSignal): Promise<readonly UndecidedFolder[]> {
    const { plantedKind, store } = this.#options;
    const open = (await store.open()).filter((one) => one.about === "review" && one.group === group);
    const folders = await this.#layersOf(group, target);
    return Promise.all(
      folders.map(async (layer) => {
        const { changes, ...diff } = await layer.diff(signal);
        const planted = plantedAmong(changes, plantedKind);
        return {
          target: layer.target,
          source: layer.source,
          code: open.find(({ tool }) => tool === reviewToolOf(layer.target))?.code,
          ...diff,
          changes: changes.map((change) => ({ ...change, planted: planted(change) })),
        };
      }),
    );
  }

  /**
   * Decides. AppErrors: `not_found` for a folder or a path that is missing, `bad_input` where several
   * folders could be meant, `conflict` where nothing is left to decide.
   */
  async decide({ group: name, target, paths, allow, by }: ReviewWish): Promise<ReviewOutcome> {
    const { questions, groups, answer, store } = this.#options;
    const layer = await this.#layerOf(name, target);
    const group = groups.byName(name);
    if (!group) throw new AppError("not_found", `There is no group "${name}".`);
    if (paths !== undefined) refuseUnknown(paths, await layer.diff());
    const code = await questions.openCode(group, layer, paths === undefined);
    if (code === undefined)
      throw new AppError("conflict", `Nothing is undecided in ${layer.target} of the group ${name}.`);
    const { code: decided } = await answer({ code, allow, scope: "once", by, ...(paths && { paths }) });
    const now = (await store.get(decided)) ?? (await this.#missing(decided));
    const kept = now.kept ?? [];
    const stays = new Set(kept.map(({ path }) => path));
    const done = reviewOf(now).changes.flatMap(({ path }) => (stays.has(path) ? [] : [path]));
    const state = stateOf(now);
    return { code: decided, target: layer.target, state, done: state === "done" ? done : [], kept };
  }

  async #missing(code: string): Promise<never> {
    throw new AppError("not_found", `There is no approval "${code}".`);
  }

  async #layersOf(group: string, target: string | undefined): Promise<readonly ReviewLayer[]> {
    const all = await this.#options.layers.of(group);
    const found = all.filter((layer) => target === undefined || layer.target === target);
    if (target === undefined || found.length > 0) return found;
    const known = all.map((layer) => layer.target).join(", ") || "none";
    throw new AppError("not_found", `The group ${group} has no folder "${target}" with review; it has: ${known}.`, {
      fix: ownCommand(`mounts check ${group}`),
    });
  }

  async #layerOf(group: string, target: string | undefined): Promise<ReviewLayer> {
    const found = await this.#layersOf(group, target);
    const [only, ...others] = found;
    if (!only) throw new AppError("not_found", `The group ${group} has no folder with review.`);
    if (others.length === 0) return only;
    const names = found.map((layer) => layer.target).join(", ");
    throw new AppError("bad_input", `The group ${group} has several folders with review: say which one, of ${names}.`);
  }
}

function stateOf({ state, outcome }: Approval): ReviewOutcome["state"] {
  if (state === "open") return "counted";
  return outcome === undefined || outcome === "waiting" || outcome === "writing" ? "waiting" : "done";
}

function refuseUnknown(paths: readonly string[], { changes }: ReviewDiff): void {
  const { unknown } = chooseChanges(
    changes.map(({ path, kind }) => ({ path, kind, bytes: 0 })),
    paths,
  );
  if (unknown.length === 0) return;
  const named = unknown.map((path) => visible(path)).join(", ");
  throw new AppError("not_found", `Nothing has changed at ${named}. Paths are those of "mounts diff".`);
}
