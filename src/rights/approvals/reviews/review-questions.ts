import type { Logger } from "pino";

import type { Approval, Decider } from "../../../domain/rights/approval.ts";
import type { Group } from "../../../domain/chats/group.ts";
import { newCode } from "../../../domain/rights/code.ts";
import {
  countChanges,
  type Review,
  type ReviewedChange,
  reviewersOf,
  reviewOf,
  type ReviewSettings,
  reviewToolOf,
} from "../../../domain/rights/review.ts";
import type { Publish } from "../../../domain/events/event.ts";
import type { Role } from "../../../domain/people/role.ts";
import { toError } from "../../../lib/app-error.ts";
import { ownCommand } from "../../../lib/process/own-command.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import type { ReviewDiff, ReviewLayer, ReviewLayers } from "../../../sandbox/review/review-layer.ts";
import type { StandingAsk } from "../../../stores/contract/approval-store.ts";
import type { Store } from "../../../stores/contract/store.ts";
import { digestInput } from "../asking.ts";
import { noticeIn } from "../words.ts";
import { reviewCard, showReview } from "./review-card.ts";
import { automaticChanges, isSameChange, type PlantedKind, reviewDigest, reviewedChanges } from "./review-changes.ts";

const codeLength = 6;
const nobody: Asking = { isAutomatic: false };

export interface ReviewQuestionsOptions {
  readonly store: Pick<Store["approvals"], "ask" | "cancel" | "list" | "open" | "undone">;
  readonly layers: ReviewLayers;
  readonly settingsOf: (group: string, target: string) => ReviewSettings;
  readonly groups: { byName(name: string): Group | undefined; list(): readonly Group[] };
  readonly agentNameOf: (group: Group) => string;
  /** True when somebody in the group's chat has this role. */
  readonly isThere: (group: Group, role: Role) => Promise<boolean>;
  /** True when cards on this channel can be answered by a thumb. */
  readonly byThumb: (channel: string) => boolean;
  readonly plantedKind: PlantedKind;
  readonly publish: Publish<"approval.asked">;
  readonly deliver: () => void;
  /** Told when something was asked, or decided by a setting. */
  readonly asked: () => void;
  readonly randomBelow: (limit: number) => number;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Logger;
}

interface Asking {
  /** Small changes of plain text are applied without asking, where the setting says so. */
  readonly isAutomatic: boolean;
  /** Somebody is about to decide all of it: no card is needed. */
  readonly isQuiet?: boolean;
}

/** A folder as it is now, with what nobody has decided. */
interface Undecided {
  readonly group: Group;
  readonly layer: Pick<ReviewLayer, "target">;
  readonly diff: ReviewDiff;
  readonly changes: readonly ReviewedChange[];
}

/** Asks people about what agents changed in folders with review: one card for each folder, replaced by the next one. */
export class ReviewQuestions {
  readonly #options: ReviewQuestionsOptions;

  constructor(options: ReviewQuestionsOptions) {
    this.#options = options;
  }

  /** Questions that a turn of the group leaves, to be stored with its end. Never rejects. */
  async ofTurn(group: Group): Promise<readonly StandingAsk[]> {
    try {
      const { layers } = this.#options;
      if (!(await layers.mayHaveChanged(group.name))) return [];
      const asks: StandingAsk[] = [];
      for (const layer of await layers.of(group.name)) asks.push(...(await this.#ofLayer(group, layer, automatic)));
      return asks;
    } catch (error) {
      const { logger } = this.#options;
      logger.error({ err: toError(error), group: group.name }, "what a turn changed could not be put to people");
      return [];
    }
  }

  /** Asks outside of a turn about what nobody was asked about, such as after a start. Never rejects. */
  async askNow(name: string, how: Asking = nobody): Promise<void> {
    const { groups, layers, logger } = this.#options;
    const group = groups.byName(name);
    if (!group) return;
    try {
      for (const layer of await layers.of(name)) await this.ask(await this.#ofLayer(group, layer, how));
    } catch (error) {
      logger.error({ err: toError(error), group: name }, "what an agent changed could not be put to people");
    }
  }

  /** Stores questions that no turn could. */
  ask(asks: readonly StandingAsk[]): Promise<void> {
    return this.asked(asks, false);
  }

  /** Has questions delivered and answered by settings, after they are stored. */
  async asked(asks: readonly StandingAsk[], areStored: boolean): Promise<void> {
    if (asks.length === 0) return;
    if (!areStored) for (const asked of asks) await this.#options.store.ask(asked);
    this.#options.deliver();
    this.#options.asked();
  }

  /** The code of what is open about exactly what is there now, which is asked if it was not. Undefined: nothing. */
  async openCode(group: Group, layer: ReviewLayer, isQuiet: boolean): Promise<string | undefined> {
    await this.ask(await this.#ofLayer(group, layer, { isAutomatic: false, isQuiet, isAgain: true }));
    return (await this.#openAbout(group.name, layer.target))?.code;
  }

  async #openAbout(group: string, target: string): Promise<Approval | undefined> {
    const open = await this.#options.store.open();
    return open.find((one) => one.about === "review" && one.group === group && one.tool === reviewToolOf(target));
  }

  async #ofLayer(
    group: Group,
    layer: ReviewLayer,
    how: Asking & { readonly isAgain?: boolean },
  ): Promise<readonly StandingAsk[]> {
    // Before and after the look: decisions are made and carried out meanwhile.
    const before = await this.#decidedIn(group.name, layer.target);
    const diff = await layer.diff();
    const decided = [...before, ...(await this.#decidedIn(group.name, layer.target))];
    const changes = this.#undecided(decided, diff);
    const open = await this.#openAbout(group.name, layer.target);
    if (changes.length === 0) {
      if (open) await this.#withdraw(open);
      return [];
    }
    const digest = reviewDigest({ target: layer.target, changes });
    if (open?.change?.base === digest) return [];
    if (!how.isAgain && !open && (await this.#wasAskedLast(group.name, layer.target, digest))) return [];
    return this.#asks({ group, layer, diff, changes }, how);
  }

  /** Changes without those that were decided and wait to be carried out. */
  #undecided(decided: readonly ReviewedChange[], diff: ReviewDiff): readonly ReviewedChange[] {
    const left = diff.changes.filter((now) => !decided.some((one) => one.path === now.path && isSameChange(one, now)));
    return reviewedChanges({ changes: left }, this.#options.plantedKind);
  }

  /** Changes that were decided and are not carried out yet. */
  async #decidedIn(group: string, target: string): Promise<readonly ReviewedChange[]> {
    const undone = await this.#options.store.undone();
    const here = undone.filter((one) => one.group === group && one.tool === reviewToolOf(target));
    return here.flatMap((approval) => reviewOf(approval).changes);
  }

  /** A card about exactly this is over without an answer: people are not asked the same again by themselves. */
  async #wasAskedLast(group: string, target: string, digest: string): Promise<boolean> {
    const known = await this.#options.store.list({ group, about: "review", state: "expired", limit: 100 });
    return known.some(({ tool, change }) => tool === reviewToolOf(target) && change?.base === digest);
  }

  async #withdraw({ code, group, channel, chat, turn, input }: Approval): Promise<void> {
    const { store, clock, deliver } = this.#options;
    const text = `${code} is no longer needed: nothing that is undecided is left in ${reviewOf({ input }).target}.`;
    const said = channel === "" ? [] : [noticeIn({ group, channel, chat, turn }, text)];
    if (await store.cancel(code, clock.now(), said)) deliver();
  }

  async #asks(undecided: Undecided, how: Asking): Promise<readonly StandingAsk[]> {
    const { group, layer, diff, changes } = undecided;
    const settings = this.#options.settingsOf(group.name, layer.target);
    const isAutomatic = how.isAutomatic && !diff.cut;
    const paths = isAutomatic ? automaticChanges(diff.changes, settings, this.#options.plantedKind) : new Set<string>();
    const [auto, others] = [
      changes.filter(({ path }) => paths.has(path)),
      changes.filter(({ path }) => !paths.has(path)),
    ];
    const asks: StandingAsk[] = [];
    if (auto.length > 0)
      asks.push(await this.#ask({ ...undecided, changes: auto }, settings, { allowedBy: settingOf(settings) }));
    if (others.length > 0) asks.push(await this.#ask({ ...undecided, changes: others }, settings, how));
    return asks;
  }

  async #ask(
    { group, layer, diff, changes }: Undecided,
    settings: ReviewSettings,
    how: { readonly isQuiet?: boolean; readonly allowedBy?: Omit<Decider, "person"> },
  ): Promise<StandingAsk> {
    const { isThere, byThumb, clock, randomBelow, publish, agentNameOf } = this.#options;
    const { target } = layer;
    const { block, changes: shown } = showReview(changes);
    const review: Review = { target, changes: shown, ...(diff.cut && { isCut: true }) };
    const askedAt = clock.now();
    const agent = agentNameOf(group);
    const approvers = reviewersOf(settings);
    const approval = {
      code: newCode(codeLength, randomBelow),
      about: "review",
      call: "",
      tool: reviewToolOf(target),
      ...digestInput(review),
      risk: changes.some(({ planted }) => planted !== undefined) ? "high" : "medium",
      rule: "a folder with review",
      asker: { id: "agent", name: agent, role: "guest" },
      approvers,
      quorum: settings.quorum,
      askedAt,
      expiresAt: askedAt + settings.expiresMinutes * 60_000,
      change: { diff: "", base: reviewDigest(review) },
    } as const;
    const { code, call, tool, sha256, risk, rule, asker, quorum, expiresAt } = approval;
    const data = { code, call, tool, sha256, risk, rule, asker: asker.id, approvers, quorum, expiresAt };
    await publish({ type: "approval.asked", group: group.name, actor: "host", data });
    const canAnswerHere = await isThere(group, approvers);
    const place = { group: group.name, channel: group.channel, chat: group.chat, turn: undefined };
    const { expiresMinutes: minutes } = settings;
    const options = {
      group: group.name,
      minutes,
      canAnswerHere,
      byThumb: byThumb(group.channel),
      agent,
      isCut: diff.cut,
    };
    const card = noticeIn(place, reviewCard(approval, block, options));
    const isSilent = how.allowedBy !== undefined || (how.isQuiet === true && settings.quorum === 1);
    return {
      group: group.name,
      approval,
      card,
      isSilent,
      allowedBy: how.allowedBy,
      outgoing: !isSilent && !canAnswerHere ? this.#forOperator(group, review) : [],
    };
  }

  /** The operator's own group is told where nobody in the chat may answer. */
  #forOperator({ name }: Group, { target, changes }: Review) {
    const main = this.#options.groups.list().find((group) => group.main && group.name !== name);
    if (!main) return [];
    const what = `The agent of the group ${name} has changed its folder ${target} (${countChanges(changes)})`;
    const text = `${what}, and nobody there may decide about it: ${ownCommand(`mounts diff ${name} ${target}`)}`;
    return [noticeIn({ group: main.name, channel: main.channel, chat: main.chat, turn: undefined }, text)];
  }
}

const automatic: Asking = { isAutomatic: true };

function settingOf({ isOrdinaryApplied }: ReviewSettings): Omit<Decider, "person"> {
  const name = isOrdinaryApplied ? "The setting protect" : "The setting review.apply";
  return { actor: "host", name, role: "owner" };
}
