import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { pino } from "pino";

import type { Approval, Decider } from "../../src/domain/rights/approval.ts";
import type { Group } from "../../src/domain/chats/group.ts";
import type { ReviewSettings } from "../../src/domain/rights/review.ts";
import { ForwardClock } from "../../src/lib/time/forward-clock.ts";
import { ApprovalService } from "../../src/rights/approvals/approval-service.ts";
import { ReviewService } from "../../src/rights/approvals/reviews/review-service.ts";
import { ReviewEffects } from "../../src/rights/approvals/reviews/review-effects.ts";
import { ReviewQuestions } from "../../src/rights/approvals/reviews/review-questions.ts";
import { plantedKind } from "../../src/rights/approvals/reviews/open-reviews.ts";
import { openTestStore } from "./open-test-store.ts";
import { plainLayers, PlainReview, writeFiles } from "./plain-review.ts";
import { someGroup } from "./some-group.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** An admin of the group. */
export function admin(name: string): Decider {
  return { person: `terminal:${name}`, actor: `member:${name}`, name, role: "admin" };
}

/**
 * A group with folders with review, whose questions and answers go through a real store. `turn` does what the end of a
 * turn does; `files` writes, or removes, files as the agent (`seen`) or as the operator (`source`).
 */
export async function openReviewRig(
  options: {
    readonly settings?: Partial<ReviewSettings>;
    readonly targets?: readonly string[];
    readonly isThere?: boolean;
  } = {},
) {
  const { settings: own, targets = ["site"], isThere = true } = options;
  const folder = await temporaryFolder();
  const home = await openTestStore();
  const { approvals: store, outbox } = home.store;
  const layers = targets.map((target) => new PlainReview(folder.path, { target }));
  for (const layer of layers) await layer.begin();
  const [layer] = layers;
  if (!layer) throw new Error("no folder");
  const time = { now: 1_000_000_000 };
  const clock = { now: () => time.now, monotonic: () => time.now };
  const told: { readonly type: string; readonly data: unknown }[] = [];
  const settings: ReviewSettings = { apply: "admin", quorum: 1, expiresMinutes: 60, isOrdinaryApplied: false, ...own };
  const group = someGroup("family");
  const main: Group = { ...someGroup("main"), main: true, chat: "main" };
  const logger = pino({ level: "silent" });
  const all = plainLayers(...layers);
  let codes = 0;
  const publish = async (event: { readonly type: string; readonly data: unknown }) => void told.push(event);
  const open = () => {
    const groups = {
      byName: (name: string) => [group, main].find((one) => one.name === name),
      list: () => [group, main],
    };
    const questions = new ReviewQuestions({
      store,
      layers: all,
      settingsOf: () => settings,
      groups,
      agentNameOf: () => "crab",
      isThere: async () => isThere,
      byThumb: () => true,
      plantedKind,
      publish,
      deliver: () => undefined,
      asked: () => service.checkNow(),
      // Letters that spell out how many codes there were before.
      randomBelow: (limit) => (codes++ * 7) % limit,
      clock,
      logger,
    });
    const effects = new ReviewEffects({
      store,
      layers: all,
      askAgain: (name) => questions.askNow(name),
      publish,
      deliver: () => undefined,
      clock,
      logger,
    });
    const service: ApprovalService = new ApprovalService({
      store,
      wake: async () => undefined,
      carryOut: async () => undefined,
      carryOutReviews: () => effects.carryOut(),
      forms: { read: () => undefined, fill: () => undefined, settled: () => undefined },
      isMoot: async () => false,
      deniedBy: async () => undefined,
      deliver: () => undefined,
      publish,
      clock,
      forwardClock: new ForwardClock(clock, 0),
      logger,
    });
    const desk = new ReviewService({
      store,
      layers: all,
      groups,
      questions,
      answer: (answer) => service.answer(answer),
      plantedKind,
    });
    return { questions, effects, service, desk };
  };
  let parts = open();
  return {
    group,
    layer,
    layers,
    store,
    settings,
    told,
    time,
    get desk() {
      return parts.desk;
    },
    get service() {
      return parts.service;
    },
    get effects() {
      return parts.effects;
    },
    /** Another life of the host begins. */
    restart: () => {
      parts.service[Symbol.dispose]();
      parts = open();
    },
    /** The agent changes files in a turn, which then ends. */
    turn: async (files: Readonly<Record<string, string | undefined>>, of = layer) => {
      await writeFiles(of.seen, files);
      if (parts.effects.isWaiting) await parts.effects.carryOut();
      await parts.questions.ask(await parts.questions.ofTurn(group));
      time.now += 1_000;
    },
    /** The operator changes files. */
    edit: (files: Readonly<Record<string, string | undefined>>, of = layer) => of.edit(files),
    /** Files of both sides, as they are at the beginning. */
    begin: async (files: Readonly<Record<string, string>>, of = layer) => {
      await of.edit(files);
    },
    real: async (path: string, of = layer) => readFile(join(of.source, path), "utf8").catch(() => undefined),
    seen: async (path: string, of = layer) => readFile(join(of.seen, path), "utf8").catch(() => undefined),
    answer: async (
      code: string,
      allow: boolean,
      more: { readonly paths?: readonly string[]; readonly by?: Decider } = {},
    ) => {
      const { by = admin("Bob"), ...rest } = more;
      await parts.service.answer({ code, allow, scope: "once", by, ...rest }, { way: "command" });
      time.now += 1_000;
    },
    open: async (): Promise<Approval[]> => store.open(),
    /** Texts that were sent, to the group's chat or all. */
    texts: async (chat?: string) =>
      (await outbox.unsent(100)).filter((one) => chat === undefined || one.chat === chat).map(({ text }) => text),
    [Symbol.asyncDispose]: async () => {
      parts.service[Symbol.dispose]();
      await parts.effects.carryOut();
      await home[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}
