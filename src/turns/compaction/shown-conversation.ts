import { LRUCache } from "lru-cache";

import { coverStep } from "../context/compaction/show-cover.ts";
import { tokensOf } from "../context/compaction/cut.ts";
import { estimatePromptTokens } from "../context/tokens.ts";
import { type Origin, sortOrigins } from "../../domain/people/origin.ts";
import type { Sourced } from "../../domain/rights/sourced.ts";
import type { OfferedTool, ToolDefinition } from "../../domain/turns/model.ts";
import type { Session } from "../../domain/turns/session.ts";
import type { Summary } from "../../domain/turns/summary.ts";
import type { Step, Turn } from "../../domain/turns/turn.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { ResultClearing } from "../conversation/clearing.ts";
import type { ConversationPrompts } from "../conversation/conversation-prompts.ts";
import type { ShownPictures } from "../conversation/shown-pictures.ts";
import { StepMemory } from "../conversation/step-memory.ts";
import type { ConversationScope } from "../turn-scope.ts";

/** A conversation as shown to a model: system prompt, tools, the cover of its beginning, and all following steps. */
export interface ShownConversation {
  readonly system: readonly string[];
  readonly tools: readonly ToolDefinition[];
  /** Tokens of system prompt and tools, the same in each prompt. */
  readonly fixedTokens: number;
  readonly cover: readonly Summary[];
  /** Cover as shown to the model; undefined when there is none. */
  readonly first: Step | undefined;
  /** Oldest first. */
  readonly steps: readonly Step[];
  /** Number of steps from a sub-agent's parent. */
  readonly forked: number;
  /** Start of the window, by the session. */
  readonly windowStart: number;
}

export interface ShownConversationsOptions {
  readonly store: {
    readonly turns: Pick<Store["turns"], "history">;
    readonly summaries: Pick<Store["summaries"], "cover">;
    readonly erasure: Pick<Store["erasure"], "rewrites">;
    readonly origins: Pick<Store["origins"], "note">;
  };
  readonly offered: { of(scope: ConversationScope): Promise<{ readonly definitions: readonly OfferedTool[] }> };
  readonly prompts: Pick<ConversationPrompts, "systemOf" | "renew">;
  /** Returns the steps shown before those of a sub-agent's session. */
  readonly before: (
    session: Session,
  ) => Promise<{ readonly cover: readonly Summary[]; readonly steps: readonly Step[] } | undefined>;
  readonly clearing: Pick<ResultClearing, "shown">;
  readonly pictures: Pick<ShownPictures, "retire" | "shown">;
}

/** The store has all of them; these are at hand. */
const rememberedCovers = 512;

interface KnownCover {
  readonly conversation: number;
  readonly windowStart: number;
  readonly rewrites: number;
  readonly cover: readonly Summary[];
}

/** Reads what models are shown. A conversation of which nothing is covered costs no look at summaries. */
export class ShownConversations {
  readonly #options: ShownConversationsOptions;
  readonly #memory: StepMemory;
  /** Present window starts, by sessions as they were at their turn's beginning. */
  readonly #windowStarts = new WeakMap<Session, number>();
  readonly #forks = new WeakMap<Session, ReturnType<ShownConversationsOptions["before"]>>();
  /** By turn. */
  readonly #noted = new LRUCache<string, readonly Origin[]>({ max: rememberedCovers });
  readonly #covers = new LRUCache<string, KnownCover>({ max: rememberedCovers });

  constructor(options: ShownConversationsOptions) {
    this.#options = options;
    this.#memory = new StepMemory(options.store.turns, () => options.store.erasure.rewrites());
  }

  async of(scope: ConversationScope): Promise<ShownConversation> {
    const { session, turn } = scope;
    const windowStart = this.#windowStarts.get(session) ?? session.windowStart;
    const [{ definitions: tools }, own] = await Promise.all([
      this.#options.offered.of(scope),
      this.#memory.history(session.id, turn.conversation, windowStart),
    ]);
    const fork = session.kind === "agent" ? await this.#forkOf(session) : undefined;
    const ofParent = fork ? fork.steps.filter(({ seq }) => seq >= windowStart) : [];
    const cleared = this.#options.clearing.shown(session, own);
    const all = ofParent.length === 0 ? cleared : [...ofParent, ...cleared];
    const steps = await this.#options.pictures.shown(session, all);
    const system = await this.#options.prompts.systemOf(scope, steps[0]?.at ?? turn.startedAt);
    const cover = await this.#coverOf(session, { conversation: turn.conversation, windowStart, fork });
    await this.#note(turn, [...system, ...tools, ...cover]);
    const first = coverStep(cover, { session: session.id, tools: tools.map(({ name }) => name) });
    const texts = system.map(({ text }) => text);
    const fixedTokens = estimatePromptTokens({ system: texts, messages: [], tools });
    return { system: texts, tools, fixedTokens, cover, first, steps, forked: ofParent.length, windowStart };
  }

  /**
   * The turn reads all of this before its model does. Steps have brought theirs when they were stored; turns that read
   * what else is shown may be gone.
   */
  async #note({ id, lineage }: Turn, shown: readonly Pick<Sourced, "origins">[]): Promise<void> {
    const known = this.#noted.get(id) ?? lineage.origins;
    const origins = sortOrigins(shown.flatMap((one) => one.origins));
    if (origins.every((origin) => known.includes(origin))) return;
    await this.#options.store.origins.note(id, origins);
    this.#noted.set(id, [...known, ...origins]);
  }

  /** Newest step of a session's conversation; undefined when empty. */
  async lastStep({ id, conversation, windowStart }: Session): Promise<Step | undefined> {
    return (await this.#memory.history(id, conversation, windowStart)).at(-1);
  }

  /**
   * More of the conversation is covered now: the prompt changes from its beginning anyway, and says everything as it is
   * now.
   */
  async moved(scope: ConversationScope, windowStart: number): Promise<ShownConversation> {
    this.#windowStarts.set(scope.session, windowStart);
    const left = await this.#memory.history(scope.session.id, scope.turn.conversation, windowStart);
    await this.#options.pictures.retire(scope, left);
    const [first] = left;
    await this.#options.prompts.renew(scope, first?.at ?? scope.turn.startedAt);
    return this.of(scope);
  }

  #forkOf(session: Session): ReturnType<ShownConversationsOptions["before"]> {
    const known = this.#forks.get(session) ?? this.#options.before(session);
    this.#forks.set(session, known);
    return known;
  }

  async #coverOf(
    { id }: Session,
    {
      conversation,
      windowStart,
      fork,
    }: Pick<KnownCover, "conversation" | "windowStart"> & {
      readonly fork: Awaited<ReturnType<ShownConversationsOptions["before"]>>;
    },
  ): Promise<readonly Summary[]> {
    const own = windowStart === 0 ? [] : await this.#ownCover(id, { conversation, windowStart });
    if (!fork) return own;
    const from = own[0]?.fromStep ?? Infinity;
    return [...fork.cover.filter(({ toStep }) => toStep < from), ...own];
  }

  async #ownCover(
    session: string,
    place: Pick<KnownCover, "conversation" | "windowStart">,
  ): Promise<readonly Summary[]> {
    const rewrites = this.#options.store.erasure.rewrites();
    const known = this.#covers.get(session);
    const isSame =
      known?.conversation === place.conversation &&
      known.windowStart === place.windowStart &&
      known.rewrites === rewrites;
    if (isSame) return known.cover;
    const cover = await this.#options.store.summaries.cover(session, place.conversation, place.windowStart);
    this.#covers.set(session, { ...place, rewrites, cover });
    return cover;
  }
}

/** All of the prompt but the steps. */
export function tokensBesideSteps({ fixedTokens, first }: Pick<ShownConversation, "fixedTokens" | "first">): number {
  return fixedTokens + (first?.tokens ?? 0);
}

/** All of the prompt. */
export function tokensOfConversation(shown: ShownConversation): number {
  return tokensBesideSteps(shown) + tokensOf(shown.steps);
}
