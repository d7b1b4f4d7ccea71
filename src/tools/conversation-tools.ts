import { LRUCache } from "lru-cache";

import type { Group } from "../domain/chats/group.ts";
import { abilitiesOf } from "../domain/settings/group-ability.ts";
import type { OfferedTool, ToolCall } from "../domain/turns/model.ts";
import type { Exposure } from "../domain/people/origin.ts";
import type { Provenance, Verdict } from "../domain/rights/policy.ts";
import type { Sourced } from "../domain/rights/sourced.ts";
import { stakesOf } from "../domain/rights/stakes.ts";
import type { ResolvedGroup } from "../domain/settings/resolved-group.ts";
import type { AnnouncedTool } from "../protocol/tools.ts";
import { memoize } from "../lib/memoize.ts";
import type { SessionStore } from "../stores/contract/session-store.ts";
import type { Tool } from "./catalog.ts";
import type { ChannelAbility } from "./define-tool.ts";
import { exposureOf } from "./exposure.ts";
import { describeFound } from "./finding/find.ts";
import { findTools, innerCall } from "./finding/finding-tools.ts";
import { extended, offerNow } from "./finding/offer.ts";
import { judgeToolCall, describeUnknownTool } from "./judge-tool-call.ts";
import type { Circumstances } from "./judge-tool-call.ts";
import type { Audience, ToolRegistry } from "./registry.ts";
import type { SessionRight } from "./sessions/session-rights.ts";

export interface ConversationToolsOptions {
  readonly registryOf: (group: Group) => Promise<ToolRegistry>;
  /** Reason why a source's tool is missing now; undefined when unknown. */
  readonly whyMissing?: ((group: Group, name: string) => string | undefined) | undefined;
  readonly sessions: Pick<SessionStore, "offerTools" | "extendOffer">;
  readonly channelCan: (channel: string, ability: ChannelAbility) => boolean;
}

/** The tools of one turn. */
export interface TurnTools {
  /** Definitions for the model. */
  readonly definitions: readonly OfferedTool[];
  /** Announcements for the agent. */
  readonly announced: readonly AnnouncedTool[];
  /** Names of those of sources that the conversation was offered and that are there now. */
  readonly ofSources: readonly string[];
  get(name: string): Tool | undefined;
  /** Which tools besides those that the model is shown a query fits, in words for it. */
  find(query: string): Sourced;
  /** The asker and the origins at the time of the first call: the basis for judging calls. */
  provenance(): Promise<Provenance>;
  /** Judges a call. */
  judge(call: ToolCall): Promise<Verdict>;
  /** Exposure caused by these calls; undefined: none. */
  exposureOf(calls: readonly ToolCall[]): Exposure | undefined;
}

/** A turn's circumstances: abilities of its models, its rights and its asker. */
export interface TurnCircumstances {
  /** Abilities of some model of the turn's route. */
  readonly can: { readonly callTools: boolean; readonly seeImages: boolean };
  readonly settings: ResolvedGroup;
  readonly provenance: () => Promise<Provenance>;
  /** Rights of its session; all by default. */
  readonly rights?: ReadonlySet<SessionRight> | undefined;
}

/** All of it but for whom. */
type AudienceTraits = Omit<TurnCircumstances, "provenance">;

/** The store has all of them; these are at hand. */
const rememberedConversations = 512;

interface Conversation {
  readonly number: number;
  /** In which it was last looked whether sources have more. */
  readonly turn: string | undefined;
  readonly definitions: readonly OfferedTool[];
}

/**
 * Decides what a conversation is offered. That is settled when it begins and kept in the store, so that the beginning
 * of its prompts stays the same to the byte, also over restarts and upgrades: what is lost meanwhile is refused when it
 * is called, what is new waits for the next conversation, or, where a source has it, for the next turn: then it is put
 * behind the others.
 */
export class ConversationTools {
  readonly #options: ConversationToolsOptions;
  /** By session. */
  readonly #known = new LRUCache<string, Conversation>({ max: rememberedConversations });

  constructor(options: ConversationToolsOptions) {
    this.#options = options;
  }

  async of(group: Group, turn: TurnPlace, given: TurnCircumstances): Promise<TurnTools> {
    const { provenance, settings } = given;
    const folders = [group.name, ...settings.writersOfShared];
    const registry = await this.#options.registryOf(group);
    const audience = this.#audienceOf(group, given);
    const offered = await this.#offered(turn, { registry, audience });
    const names = offered.map(({ name }) => name);
    const stakes = stakesOf(group.mounts, settings.network);
    const known = memoize(provenance);
    const whyMissing = (name: string): string | undefined => this.#options.whyMissing?.(group, name);
    const circumstances = { registry, audience, stakes, names, whyMissing };
    return {
      // A model that cannot call tools refuses a request with any, whatever the conversation has begun with.
      definitions: audience.modelCallsTools ? offered : [],
      announced: announcedOf(registry, names),
      ofSources: names.filter((name) => registry.added.has(name)),
      get: (name) => registry.get(name),
      find: (query) => describeFound(query, hiddenFrom(names, { registry, audience })),
      provenance: known,
      judge: async (call) => judge(call, { ...circumstances, provenance: await known() }),
      exposureOf: (calls) => exposureOf({ registry, folders }, calls.map(innerCall)),
    };
  }

  /** Tools that a new conversation would be offered. Records nothing. */
  async ifBegun(group: Group, given: AudienceTraits): Promise<Pick<TurnTools, "definitions" | "ofSources">> {
    const registry = await this.#options.registryOf(group);
    const definitions = offerNow(registry, this.#audienceOf(group, given));
    return { definitions, ofSources: definitions.map(({ name }) => name).filter((name) => registry.added.has(name)) };
  }

  #audienceOf(group: Group, { can, rights, settings }: AudienceTraits): Audience {
    return {
      policy: settings.policy,
      channelCan: (ability) => this.#options.channelCan(group.channel, ability),
      modelCallsTools: can.callTools,
      modelSees: can.seeImages,
      has: abilitiesOf(settings),
      skillNames: settings.agent.skills,
      isMain: group.main,
      rights,
    };
  }

  async #offered(
    turn: TurnPlace,
    { registry, audience }: { readonly registry: ToolRegistry; readonly audience: Audience },
  ): Promise<readonly OfferedTool[]> {
    const { sessions } = this.#options;
    const { session, conversation: number, id } = turn;
    const known = this.#known.get(session);
    if (known?.number === number && (known.turn === id || registry.added.size === 0)) return known.definitions;
    const before =
      known?.number === number
        ? known.definitions
        : await sessions.offerTools(session, number, offerNow(registry, audience));
    const wanted = registry.added.size === 0 ? before : extended(before, registry.offer(audience), registry);
    const hasMore = wanted.length > before.length;
    const definitions = hasMore ? await sessions.extendOffer(session, number, wanted) : before;
    this.#known.set(session, { number, turn: id, definitions });
    return definitions;
  }
}

/** A turn's place. `id`: the turn's. */
interface TurnPlace {
  readonly session: string;
  readonly conversation: number;
  readonly id?: string | undefined;
}

/** Also those that are found: a call of one by its own name is a call like any other. */
function announcedOf(registry: ToolRegistry, names: readonly string[]): readonly AnnouncedTool[] {
  const found = names.includes(findTools.name) ? [...registry.added] : [];
  return registry.announce([...new Set([...names, ...found])]);
}

/** Those of sources that this audience gets, and that the model is not shown. */
function hiddenFrom(
  names: readonly string[],
  { registry, audience }: { readonly registry: ToolRegistry; readonly audience: Audience },
): readonly OfferedTool[] {
  return registry.offer(audience).filter(({ name }) => registry.added.has(name) && !names.includes(name));
}

type Judged = Circumstances & {
  readonly registry: Pick<ToolRegistry, "added">;
  readonly names: readonly string[];
  readonly whyMissing: (name: string) => string | undefined;
};

/** Judges a call; a tool that the conversation was not offered is refused regardless of policy. */
async function judge(called: ToolCall, circumstances: Judged): Promise<Verdict> {
  const { names, registry } = circumstances;
  const call = innerCall(called);
  if (call === called) return judgeNamed(call, circumstances, names);
  const outer = await judgeToolCall(called, circumstances);
  if (outer.verdict.action === "deny") return outer.verdict;
  // What the model is shown it calls by its own name, so that rules and people see which tool it is.
  const found = names.includes(findTools.name) ? [...registry.added] : [];
  return judgeNamed(call, circumstances, found);
}

async function judgeNamed(call: ToolCall, circumstances: Judged, names: readonly string[]): Promise<Verdict> {
  const { name } = call;
  const { registry, whyMissing } = circumstances;
  if (!registry.get(name)) {
    const gone = names.includes(name)
      ? `There is no tool "${name}" anymore. Do without it.`
      : describeUnknownTool(name, names);
    return { action: "deny", risk: "high", rule: "unknown tool", reason: whyMissing(name) ?? gone };
  }
  const { verdict } = await judgeToolCall(call, circumstances);
  const isFound = registry.added.has(name) && circumstances.names.includes(findTools.name);
  if (verdict.action === "deny" || names.includes(name) || isFound) return verdict;
  const when = registry.added.has(name) ? "turn" : "conversation";
  const reason = `"${name}" is new: it can be used in the next ${when}. Do without it for now.`;
  return { action: "deny", risk: verdict.risk, rule: "not offered in this conversation", reason };
}
