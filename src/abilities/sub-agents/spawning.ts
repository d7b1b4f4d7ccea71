import type { ToolCall } from "../../domain/turns/model.ts";
import { partsOf, isBlob } from "../../domain/chats/part.ts";
import { sideSessionKey, type Session } from "../../domain/turns/session.ts";
import { type NewSubAgent, type SubAgent, type SubAgentContext, subAgentId } from "../../domain/work/sub-agent.ts";
import type { Group } from "../../domain/chats/group.ts";
import type { Summary } from "../../domain/turns/summary.ts";
import type { Step, Turn } from "../../domain/turns/turn.ts";
import type { Publish } from "../../domain/events/event.ts";
import { AppError, isPassing } from "../../lib/app-error.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Principal } from "../../rights/people/principal.ts";
import type { Store } from "../../stores/contract/store.ts";

/** Limits of number and time. */
export interface SubAgentLimits {
  /** 1: sub-agents of a group's own agent alone; 0: none. */
  readonly depth: number;
  readonly atOnce: number;
  readonly minutes: number;
}

/** A model's wish for a sub-agent. */
export interface WantedSubAgent {
  readonly task: string;
  readonly agent?: string | undefined;
  readonly route?: string | undefined;
  readonly skills?: readonly string[] | undefined;
  readonly context: SubAgentContext;
  readonly background: boolean;
  readonly timeoutMinutes?: number | undefined;
  readonly files: readonly string[];
}

export interface SpawningOptions {
  readonly store: {
    readonly subAgents: Pick<Store["subAgents"], "nextNumber" | "ofSession">;
    readonly turns: Pick<Store["turns"], "history">;
  };
  readonly limits: () => SubAgentLimits;
  /** Rejects with an AppError whose words are for the model when there is no such profile, or it cannot be used. */
  readonly requireProfile: (name: string) => Promise<void>;
  /** Returns why the route is refused, for the model; undefined when allowed. */
  readonly refusalOfRoute: (
    group: Group,
    wanted: { readonly route: string; readonly profile: string | undefined },
  ) => Promise<string | undefined>;
  /** Returns why these skills are refused, for the model; undefined when allowed. */
  readonly refusalOfSkills: (
    scope: SpawningTurn,
    wanted: { readonly skills: readonly string[]; readonly profile: string | undefined },
  ) => Promise<string | undefined>;
  readonly principalOf: (group: Group, turn: Pick<Turn, "id" | "cause">) => Promise<Principal>;
  readonly publish: Publish<"agent.started">;
  readonly clock: Pick<Clock, "now">;
}

/** The turn that wants one. */
export interface SpawningTurn {
  readonly turn: Turn;
  readonly group: Group;
  readonly session: Session;
  readonly settings: { readonly agent: { readonly skills: readonly string[] | undefined } };
}

const minuteMs = 60_000;
const digestMessages = 12;
const digestChars = 600;

/** Makes of what a model wants what is going to begin, or says why it cannot. */
export class Spawning {
  readonly #options: SpawningOptions;
  /** Depth of sub-agents' sessions, which never change. */
  readonly #depths = new WeakMap<Session, number>();

  constructor(options: SpawningOptions) {
    this.#options = options;
  }

  /** 0: a group's own agent; 1: a sub-agent of it; and so on. */
  async depthOf(session: Session): Promise<number> {
    if (session.kind !== "agent") return 0;
    const known = this.#depths.get(session);
    if (known !== undefined) return known;
    const depth = (await this.#options.store.subAgents.ofSession(session.id))?.depth ?? Infinity;
    this.#depths.set(session, depth);
    return depth;
  }

  async maySpawn(session: Session): Promise<boolean> {
    const { depth, atOnce } = this.#options.limits();
    return atOnce > 0 && depth > 0 && (session.kind !== "agent" || (await this.depthOf(session)) < depth);
  }

  /** Prepares the sub-agent of this call; a string is the refusal for the model. Recorded before it begins. */
  async prepare(
    scope: SpawningTurn,
    { call, position, wanted }: { readonly call: ToolCall; readonly position: number; readonly wanted: WantedSubAgent },
  ): Promise<NewSubAgent | string> {
    const { turn, group, session } = scope;
    const refusal =
      (await this.#refusalOf(session, wanted)) ??
      (await this.#profileRefusal(wanted)) ??
      (await this.#routeRefusal(group, wanted)) ??
      (await this.#skillsRefusal(scope, wanted));
    if (refusal !== undefined) return refusal;
    const { clock, publish, principalOf, store } = this.#options;
    const limits = this.#options.limits();
    const minutes = Math.min(wanted.timeoutMinutes ?? limits.minutes, limits.minutes);
    const createdAt = clock.now();
    const number = await store.subAgents.nextNumber();
    const id = subAgentId(number);
    const { requester, role } = await principalOf(group, turn);
    const depth = (await this.depthOf(session)) + 1;
    const about = { group: group.name, session: session.id, turn: turn.id, actor: "model" } as const;
    const data = { id, call: call.id, depth, background: wanted.background, context: wanted.context, role, minutes };
    await publish({ type: "agent.started", ...about, data });
    return {
      number,
      key: sideSessionKey(group, { kind: "agent", id }),
      call: call.id,
      position,
      depth,
      background: wanted.background,
      forksFrom: wanted.context === "fork" ? session.windowStart : undefined,
      task: wanted.task,
      text: await this.#textFor(scope, wanted),
      profile: wanted.agent,
      route: wanted.route,
      skills: wanted.skills,
      requester,
      role,
      createdAt,
      expiresAt: createdAt + minutes * minuteMs,
      atOnce: limits.atOnce,
    };
  }

  async #refusalOf(session: Session, { background }: WantedSubAgent): Promise<string | undefined> {
    if (!(await this.maySpawn(session))) return "You may have no sub-agents. Do it yourself.";
    if (!background || session.kind === "main") return undefined;
    return "Here a sub-agent cannot work in the background: nobody would get its result. Wait for it.";
  }

  /** Checks that the profile exists; each turn reads it. */
  async #profileRefusal({ agent }: WantedSubAgent): Promise<string | undefined> {
    try {
      if (agent !== undefined) await this.#options.requireProfile(agent);
      return undefined;
    } catch (error) {
      if (error instanceof AppError && !isPassing(error)) return [error.message, error.fix ?? ""].join(" ").trim();
      throw error;
    }
  }

  async #routeRefusal(group: Group, { route, agent: profile }: WantedSubAgent): Promise<string | undefined> {
    return route === undefined ? undefined : this.#options.refusalOfRoute(group, { route, profile });
  }

  async #skillsRefusal(scope: SpawningTurn, { skills, agent }: WantedSubAgent): Promise<string | undefined> {
    return skills && this.#options.refusalOfSkills(scope, { skills, profile: agent });
  }

  async #textFor(scope: SpawningTurn, { task, files, context }: WantedSubAgent) {
    const listed = files.length === 0 ? "" : ["Look at these files first:", ...files].join("\n");
    const before = context === "summary" ? await this.#digest(scope) : "";
    return [task, listed, before].filter((part) => part !== "").join("\n\n");
  }

  /** The last messages and answers, shortened: what was said, not what was done. */
  async #digest({ turn, session }: SpawningTurn): Promise<string> {
    const steps = await this.#options.store.turns.history(session.id, turn.conversation, session.windowStart);
    const said = steps.flatMap(saidIn).slice(-digestMessages);
    return said.length === 0 ? "" : ["What was said before, shortened:", ...said].join("\n");
  }
}

function saidIn({ body }: Step): string[] {
  if (body.kind === "tools") return [];
  const text =
    body.kind === "model"
      ? body.answer.text
      : partsOf(body)
          .flatMap((part) => (isBlob(part) ? [] : part.text))
          .join("\n");
  if (text.trim() === "") return [];
  return [`${body.kind === "model" ? "You said" : "You were told"}: ${text.slice(0, digestChars).toWellFormed()}`];
}

/** Part of a parent's conversation shown to a sub-agent. */
export interface Fork {
  readonly cover: readonly Summary[];
  readonly steps: readonly Step[];
}

/** The parent's conversation at the sub-agent's start, regardless of later changes; undefined: none. */
export async function forkOf(
  store: {
    readonly subAgents: Pick<Store["subAgents"], "ofSession">;
    readonly turns: Pick<Store["turns"], "history">;
    readonly summaries: Pick<Store["summaries"], "cover">;
  },
  session: Session,
): Promise<Fork | undefined> {
  const agent: SubAgent | undefined = await store.subAgents.ofSession(session.id);
  if (agent?.forksFrom === undefined) return undefined;
  const from = Math.max(agent.forksFrom, session.windowStart);
  const steps = await store.turns.history(agent.parent, agent.conversation, from);
  const cover =
    agent.forksFrom === 0 ? [] : await store.summaries.cover(agent.parent, agent.conversation, agent.forksFrom);
  return { cover, steps: steps.filter(({ seq }) => seq < agent.step) };
}
