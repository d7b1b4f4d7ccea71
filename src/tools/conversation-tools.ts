import type { Group } from "../domain/group.ts";
import type { ToolCall, ToolDefinition } from "../domain/model.ts";
import type { Exposure } from "../domain/origin.ts";
import type { Provenance, ToolPolicy, Verdict } from "../domain/policy.ts";
import type { AnnouncedTool } from "../protocol/tools.ts";
import { memoize } from "../lib/memoize.ts";
import { RecentMap } from "../lib/recent-map.ts";
import type { SessionStore } from "../stores/session-store.ts";
import type { Tool } from "./catalog.ts";
import type { ChannelAbility } from "./define-tool.ts";
import { exposureOf } from "./exposure.ts";
import { judgeToolCall, unknownTool } from "./judge-tool-call.ts";
import type { Circumstances } from "./judge-tool-call.ts";
import type { Audience, ToolRegistry } from "./registry.ts";
import type { SessionRight } from "./sessions/session-rights.ts";

export interface ConversationToolsOptions {
  readonly registry: ToolRegistry;
  readonly sessions: Pick<SessionStore, "offerTools">;
  readonly channelCan: (channel: string, ability: ChannelAbility) => boolean;
}

/** The tools of one turn. */
export interface TurnTools {
  /** What the model is shown. */
  readonly definitions: readonly ToolDefinition[];
  /** What the agent is told of them. */
  readonly announced: readonly AnnouncedTool[];
  get(name: string): Tool | undefined;
  /** For whom the turn asks and what it had read when this was first asked for: what its calls are judged by. */
  provenance(): Promise<Provenance>;
  /** May this call be made? */
  judge(call: ToolCall): Promise<Verdict>;
  /** What these calls bring the turn into contact with, when they are made; undefined: nothing. */
  exposureOf(calls: readonly ToolCall[]): Exposure | undefined;
}

/** Of a turn: what its models can do, what it may, and for whom. */
export interface TurnCircumstances {
  /** What some model of the turn's route can do. */
  readonly can: { readonly callTools: boolean; readonly seeImages: boolean };
  /** Does its group remember what is said? */
  readonly remembers?: boolean | undefined;
  /** Is it to have skills? */
  readonly hasSkills?: boolean | undefined;
  /** May its session see others? */
  readonly seesSessions?: boolean | undefined;
  readonly policy: ToolPolicy;
  readonly provenance: () => Promise<Provenance>;
  /** Groups that may have written to a folder which this group has, too. */
  readonly writersOfShared: readonly string[];
  /** What it may by its session; left out: everything. */
  readonly rights?: ReadonlySet<SessionRight> | undefined;
}

/** The store has all of them; these are at hand. */
const rememberedConversations = 512;

interface Conversation {
  readonly number: number;
  readonly definitions: readonly ToolDefinition[];
}

/**
 * Decides what a conversation is offered. That is settled when it begins and kept in the store, so that the beginning of its
 * prompts stays the same to the byte, also over restarts and upgrades: what is lost meanwhile is refused when it is called,
 * what is new waits for the next conversation.
 */
export class ConversationTools {
  readonly #options: ConversationToolsOptions;
  /** By session. */
  readonly #known = new RecentMap<string, Conversation>(rememberedConversations);

  constructor(options: ConversationToolsOptions) {
    this.#options = options;
  }

  async of(
    group: Group,
    turn: { readonly session: string; readonly conversation: number },
    { rights, can, seesSessions, remembers, hasSkills, policy, provenance, writersOfShared }: TurnCircumstances,
  ): Promise<TurnTools> {
    const { registry, channelCan } = this.#options;
    const audience: Audience = {
      policy,
      channelCan: (ability) => channelCan(group.channel, ability),
      modelCallsTools: can.callTools,
      modelSees: can.seeImages,
      seesSessions,
      rights,
      remembers,
      hasSkills,
      isMain: group.main,
    };
    const offered = await this.#offered(turn, audience);
    const names = offered.map(({ name }) => name);
    const place = { hasWritableMount: group.mounts.some(({ access }) => access === "rw") };
    const known = memoize(provenance);
    return {
      // A model that cannot call tools refuses a request with any, whatever the conversation has begun with.
      definitions: audience.modelCallsTools ? offered : [],
      announced: registry.announce(names),
      get: (name) => registry.get(name),
      provenance: known,
      judge: async (call) => judge(call, { registry, audience, place, provenance: await known(), names }),
      exposureOf: (calls) => exposureOf({ registry, writersOfShared }, calls),
    };
  }

  async #offered(
    turn: { readonly session: string; readonly conversation: number },
    audience: Audience,
  ): Promise<readonly ToolDefinition[]> {
    const { registry, sessions } = this.#options;
    const known = this.#known.get(turn.session);
    if (known?.number === turn.conversation) return known.definitions;
    const definitions = await sessions.offerTools(turn.session, turn.conversation, registry.offer(audience));
    this.#known.set(turn.session, { number: turn.conversation, definitions });
    return definitions;
  }
}

/** What the conversation was not offered is refused whatever the policy says of it. */
async function judge(
  call: ToolCall,
  { names, ...circumstances }: Circumstances & { readonly names: readonly string[] },
): Promise<Verdict> {
  const { name } = call;
  if (!circumstances.registry.get(name)) {
    const reason = names.includes(name)
      ? `There is no tool "${name}" any more. Do without it.`
      : unknownTool(name, names);
    return { action: "deny", risk: "high", rule: "unknown tool", reason };
  }
  const { verdict } = await judgeToolCall(call, circumstances);
  if (verdict.action === "deny" || names.includes(name)) return verdict;
  const reason = `"${name}" is new: it can be used in the next conversation. Do without it for now.`;
  return { action: "deny", risk: verdict.risk, rule: "not offered in this conversation", reason };
}
