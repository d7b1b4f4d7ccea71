import type { Group } from "../../../domain/chats/group.ts";
import type { Publish } from "../../../domain/events/event.ts";
import { executionPointKind } from "../../../sandbox/mounts/execution-points.ts";
import type { StandingAsk } from "../../../stores/contract/approval-store.ts";
import type { Store } from "../../../stores/contract/store.ts";
import type { PlantedKind } from "./review-changes.ts";
import { ReviewEffects } from "./review-effects.ts";
import { ReviewQuestions, type ReviewQuestionsOptions } from "./review-questions.ts";
import { ReviewService, type ReviewServiceOptions } from "./review-service.ts";

/** Changes of agents in folders with review, from the question to the files. */
export interface Reviews {
  readonly questions: ReviewQuestions;
  readonly effects: ReviewEffects;
  readonly service: ReviewService;
  /** Questions that the end of a turn raises, after what waited for it was carried out. Never rejects. */
  ofTurn(group: Group): Promise<readonly StandingAsk[]>;
  /** Asks about what an earlier life of the host has left undecided, and nobody was asked about. Never rejects. */
  resume(): Promise<void>;
}

export interface ReviewsOptions
  extends Omit<ReviewQuestionsOptions, "plantedKind" | "store" | "publish">, Pick<ReviewServiceOptions, "answer"> {
  readonly store: Store["approvals"];
  readonly publish: Publish<"approval.asked" | "review.begun" | "review.ended">;
}

/** A script is known by its first line, which stands in the diff of a file that is new. */
/** Says by what is known of a change which kind of program runs it by itself. */
export const plantedKind: PlantedKind = ({ path, entry, after }, repositories) => {
  const isExecutable = after?.entry === "file" && (after.mode & 0o111) !== 0;
  const head = after?.isScript === true ? { head: Buffer.from("#!") } : {};
  const facts = { path, isFolder: entry === "folder", isExecutable, linkTarget: after?.link, ...head };
  return executionPointKind(facts, repositories);
};

/** Opens what asks people about changes in folders with review, and carries out what they decide. */
export function openReviews(options: ReviewsOptions): Reviews {
  const questions = new ReviewQuestions({ ...options, plantedKind });
  const effects = new ReviewEffects({ ...options, askAgain: (group) => questions.askNow(group) });
  const service = new ReviewService({ ...options, questions, plantedKind });
  const ofTurn: Reviews["ofTurn"] = async (group) => {
    if (effects.isWaiting) await effects.carryOut();
    return questions.ofTurn(group);
  };
  const resume = async (): Promise<void> => {
    await effects.carryOut();
    for (const group of options.groups.list()) await questions.askNow(group.name);
  };
  return { questions, effects, service, ofTurn, resume };
}
