import type { Group } from "../domain/group.ts";
import type { ToolCall, ToolDefinition } from "../domain/model.ts";
import { judgeToolCall } from "../policy/tool-policy.ts";
import type { Decision } from "../policy/tool-policy.ts";
import type { AnnouncedTool, ToolRisk } from "../protocol/tools.ts";
import type { SessionStore } from "../stores/store.ts";
import type { Tool } from "./catalog.ts";
import type { ChannelAbility } from "./define-tool.ts";
import { abilityOf } from "./registry.ts";
import type { Audience, ToolRegistry } from "./registry.ts";

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
  /** May this call be made? The reason is for the model. */
  judge(call: ToolCall): Decision;
}

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
  readonly #known = new Map<string, Conversation>();

  constructor(options: ConversationToolsOptions) {
    this.#options = options;
  }

  /** `can`: what some model of the turn's route can do. */
  async of(
    group: Group,
    turn: { readonly session: string; readonly conversation: number },
    can: { readonly callTools: boolean; readonly seeImages: boolean },
  ): Promise<TurnTools> {
    const { registry, channelCan } = this.#options;
    const audience: Audience = {
      policy: group.policy,
      channelCan: (ability) => channelCan(group.channel, ability),
      modelCallsTools: can.callTools,
      modelSees: can.seeImages,
    };
    const offered = await this.#offered(turn, audience);
    const names = offered.map(({ name }) => name);
    return {
      // A model that cannot call tools refuses a request with any, whatever the conversation has begun with.
      definitions: audience.modelCallsTools ? offered : [],
      announced: registry.announce(names),
      get: (name) => registry.get(name),
      judge: (call) => judge(registry, call, { audience, names, group }),
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

function judge(
  registry: ToolRegistry,
  call: ToolCall,
  { audience, names, group }: { readonly audience: Audience; readonly names: readonly string[]; readonly group: Group },
): Decision {
  const tool = registry.get(call.name);
  if (!tool) return deny(unknownTool(call.name, names));
  const withheld = registry.withheld(tool, audience);
  const decision = judgeToolCall({ name: call.name, risk: riskOf(tool, call.input) }, group.policy);
  if (withheld === "policy") return decision;
  if (withheld === "channel")
    return deny(`"${call.name}" does not work here: this chat has no ${abilityOf(tool)}. Do without it.`);
  if (withheld === "model") return deny("This model cannot call tools. Do without them.");
  if (withheld === "vision") return deny("This model cannot be shown images. Do without it.");
  if (!names.includes(call.name))
    return deny(`"${call.name}" is new: it can be used in the next conversation. Do without it for now.`);
  return decision;
}

/** Input that the tool does not understand is the worst that it could be. */
function riskOf(tool: Tool, input: unknown): ToolRisk {
  if (typeof tool.risk === "string") return tool.risk;
  const parsed = tool.input.safeParse(input);
  return parsed.success ? tool.risk(parsed.data) : "high";
}

function unknownTool(name: string, names: readonly string[]): string {
  if (names.includes(name)) return `There is no tool "${name}" any more. Do without it.`;
  return `There is no tool "${name}". ${names.length === 0 ? "There are none here." : `Tools: ${names.join(", ")}.`}`;
}

function deny(reason: string): Decision {
  return { verdict: "deny", reason };
}
