import type * as z from "zod";

import type { ToolCall } from "../../domain/turns/model.ts";
import type { Session } from "../../domain/turns/session.ts";
import type { NewSubAgent, SubAgent } from "../../domain/work/sub-agent.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { AbilityService, CallingTurn } from "../define-ability.ts";
import { type Fork, forkOf } from "./fork.ts";
import { Spawning, type SpawningNeeds, type SpawningTurn } from "./spawning.ts";
import { SubAgentLifecycle, type SubAgentLifecycleNeeds } from "./sub-agent-lifecycle.ts";
import { type SubAgentPort, subAgentPort, type SubAgentPortNeeds } from "./sub-agent-port.ts";
import { spawnInput } from "./tools/spawn-agent.ts";

export type SubAgentServiceNeeds = SpawningNeeds &
  SubAgentLifecycleNeeds &
  SubAgentPortNeeds & { readonly store: { readonly summaries: Pick<Store["summaries"], "cover"> } };

/** Agents that work for others. */
export class SubAgentService implements AbilityService {
  readonly #needs: SubAgentServiceNeeds;
  readonly #spawning: Spawning;
  readonly #lifecycle: SubAgentLifecycle;

  constructor(needs: SubAgentServiceNeeds) {
    this.#needs = needs;
    this.#spawning = new Spawning(needs);
    this.#lifecycle = new SubAgentLifecycle(needs);
  }

  begin(): void {
    this.#lifecycle.changed();
  }

  /** A turn has ended, or a conversation. */
  turnEnded(): void {
    this.#lifecycle.turnsEnded();
  }

  /** True when an agent in this session may have sub-agents. */
  maySpawn(session: Session): Promise<boolean> {
    return this.#spawning.maySpawn(session);
  }

  /** Makes sub-agents of calls, to begin with the calls' step, and records that. */
  async prepareSpawns<Judged extends { readonly call: ToolCall }>(
    scope: SpawningTurn,
    calls: readonly { readonly judged: Judged; readonly position: number }[],
  ): Promise<{ readonly spawns: NewSubAgent[]; readonly denied: (Judged & { readonly reason: string })[] }> {
    const spawns: NewSubAgent[] = [];
    const denied: (Judged & { readonly reason: string })[] = [];
    for (const { judged, position } of calls) {
      const wanted = spawnInput.safeParse(judged.call.input);
      const made = wanted.success
        ? await this.#spawning.prepare(scope, { call: judged.call, position, wanted: wanted.data })
        : `The input does not fit: ${faultsOf(wanted.error)}.`;
      if (typeof made === "string") denied.push({ ...judged, reason: made });
      else spawns.push(made);
    }
    return { spawns, denied };
  }

  /** Sub-agents have begun. */
  spawned(): void {
    this.#needs.workAdded();
    this.#lifecycle.changed();
  }

  /** Those that the turn waits for, as far as is known without asking. */
  awaitedBy(turn: string): readonly SubAgent[] {
    return this.#lifecycle.awaitedBy(turn);
  }

  /** Ends one, and resolves when its end is stored. False when it had ended before. */
  cancel(id: string, reason: string): Promise<boolean> {
    return this.#lifecycle.cancel(id, reason);
  }

  /** Returns the part of its parent's conversation that a session is shown; undefined: none. */
  forkOf(session: Session): Promise<Fork | undefined> {
    return forkOf(this.#needs.store, session);
  }

  /** Returns actions on the sub-agents of the calling session. */
  portFor(scope: CallingTurn): SubAgentPort {
    return subAgentPort(this.#needs, this.#lifecycle, scope);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#lifecycle[Symbol.asyncDispose]();
  }
}

function faultsOf({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) => [...path, message].join(": ")).join("; ");
}
