import type * as z from "zod";

import type { ToolCall } from "../../domain/turns/model.ts";
import { partsOf, isBlob } from "../../domain/chats/part.ts";
import { sideSessionKey, type Session } from "../../domain/turns/session.ts";
import { type NewSubAgent, subAgentId } from "../../domain/work/sub-agent.ts";
import type { Group } from "../../domain/chats/group.ts";
import type { Step, Turn } from "../../domain/turns/turn.ts";
import type { Publish } from "../../domain/events/event.ts";
import { AppError, isPassing } from "../../lib/app-error.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { refusalOfSkills } from "../../domain/sandbox/skill.ts";
import type { Profile } from "../../domain/rights/profile.ts";
import { refusalOfRoute } from "../../models/routes/narrower-route.ts";
import { lineageOfTurn } from "../../rights/people/lineage-of-turn.ts";
import type { RoleOf } from "../../rights/people/roles.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { spawnInput } from "./tools/spawn-agent.ts";

/** Limits of number and time. */
interface SubAgentLimits {
  /** 1: sub-agents of a group's own agent alone; 0: none. */
  readonly depth: number;
  readonly atOnce: number;
  readonly minutes: number;
}

/** A model's wish for a sub-agent. */
type WantedSubAgent = z.output<typeof spawnInput>;

export interface SpawningNeeds {
  readonly store: {
    readonly origins: Pick<Store["origins"], "lineage">;
    readonly subAgents: Pick<Store["subAgents"], "nextNumber" | "ofSession">;
    readonly turns: Pick<Store["turns"], "history">;
  };
  readonly subAgentLimits: () => SubAgentLimits;
  /** Returns the profile of this name. Rejects with an AppError in words for the model when it cannot be used. */
  readonly usableProfile: (name: string) => Promise<Pick<Profile, "route" | "skills">>;
  readonly modelSettings: () => Parameters<typeof refusalOfRoute>[0];
  /** Returns the skills of a group, as far as they are known now. */
  readonly knownSkills: (group: string) => readonly { readonly name: string }[];
  readonly roleOf: RoleOf;
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
  readonly #needs: SpawningNeeds;
  /** Depth of sub-agents' sessions, which never change. */
  readonly #depths = new WeakMap<Session, number>();

  constructor(needs: SpawningNeeds) {
    this.#needs = needs;
  }

  /** 0: a group's own agent; 1: a sub-agent of it; and so on. */
  async #depthOf(session: Session): Promise<number> {
    if (session.kind !== "agent") return 0;
    const known = this.#depths.get(session);
    if (known !== undefined) return known;
    const depth = (await this.#needs.store.subAgents.ofSession(session.id))?.depth ?? Infinity;
    this.#depths.set(session, depth);
    return depth;
  }

  async maySpawn(session: Session): Promise<boolean> {
    const { depth, atOnce } = this.#needs.subAgentLimits();
    return atOnce > 0 && depth > 0 && (session.kind !== "agent" || (await this.#depthOf(session)) < depth);
  }

  /** Prepares the sub-agent of this call; a string is the refusal for the model. Recorded before it begins. */
  async prepare(
    scope: SpawningTurn,
    { call, position, wanted }: { readonly call: ToolCall; readonly position: number; readonly wanted: WantedSubAgent },
  ): Promise<NewSubAgent | string> {
    const { turn, group, session } = scope;
    const refusal = (await this.#refusalOf(session, wanted)) ?? (await this.#refusalOfChoice(scope, wanted));
    if (refusal !== undefined) return refusal;
    const { clock, publish, roleOf, store } = this.#needs;
    const limits = this.#needs.subAgentLimits();
    const minutes = Math.min(wanted.timeoutMinutes ?? limits.minutes, limits.minutes);
    const createdAt = clock.now();
    const number = await store.subAgents.nextNumber();
    const id = subAgentId(number);
    const lineage = await lineageOfTurn({ origins: store.origins, roleOf }, group, turn);
    const depth = (await this.#depthOf(session)) + 1;
    const about = { group: group.name, session: session.id, turn: turn.id, actor: "model" } as const;
    const data = {
      id,
      call: call.id,
      depth,
      background: wanted.background,
      context: wanted.context,
      role: lineage.role,
      minutes,
    };
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
      lineage,
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

  /** Checks the profile, route and skills that it names. Each of its turns reads the profile again. */
  async #refusalOfChoice(
    { group, settings }: SpawningTurn,
    { agent, route, skills }: WantedSubAgent,
  ): Promise<string | undefined> {
    const { usableProfile, modelSettings, knownSkills } = this.#needs;
    try {
      const profile = agent === undefined ? undefined : await usableProfile(agent);
      const ofRoute =
        route === undefined
          ? undefined
          : refusalOfRoute(modelSettings(), { wanted: route, own: profile?.route ?? group.model });
      return (
        ofRoute ??
        (skills && refusalOfSkills(knownSkills(group.name), skills, [settings.agent.skills, profile?.skills]))
      );
    } catch (error) {
      if (error instanceof AppError && !isPassing(error)) return [error.message, error.fix ?? ""].join(" ").trim();
      throw error;
    }
  }

  async #textFor(scope: SpawningTurn, { task, files, context }: WantedSubAgent) {
    const listed = files.length === 0 ? "" : ["Look at these files first:", ...files].join("\n");
    const before = context === "summary" ? await this.#digest(scope) : "";
    return [task, listed, before].filter((part) => part !== "").join("\n\n");
  }

  /** The last messages and answers, shortened: what was said, not what was done. */
  async #digest({ turn, session }: SpawningTurn): Promise<string> {
    const steps = await this.#needs.store.turns.history(session.id, turn.conversation, session.windowStart);
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
