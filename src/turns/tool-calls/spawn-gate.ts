import type { ToolCall } from "../../domain/turns/model.ts";
import { ofHost, sourced } from "../../domain/rights/sourced.ts";
import { describeCarriedOut } from "../../domain/work/describe-sub-agent.ts";
import { isAwaited, type NewSubAgent, spawnTool, type SubAgent } from "../../domain/work/sub-agent.ts";
import type { Step } from "../../domain/turns/turn.ts";
import type { GivenResult } from "../steps/result-parts.ts";
import type { TurnCollaborators } from "../collaborators.ts";
import type { TurnScope } from "../turn-scope.ts";
import type { JudgedCall, PreparedSpawns } from "./judge-calls.ts";

type SpawnParts = Pick<TurnCollaborators, "calls" | "clock"> & {
  readonly store: Pick<TurnCollaborators["store"], "subAgents">;
};

const none: PreparedSpawns = { spawns: [], denied: [] };

export function isSpawn({ name }: Pick<ToolCall, "name">): boolean {
  return name === spawnTool;
}

/**
 * The calls that make sub-agents. The host begins those itself, with the step that has the calls; where the turn has to
 * wait for them it is left, and resumed when all of them have ended. Until then no other call of the answer runs.
 */
export class SpawnGate {
  readonly #scope: TurnScope;
  readonly #parts: SpawnParts;

  constructor(scope: TurnScope, parts: SpawnParts) {
    this.#scope = scope;
    this.#parts = parts;
  }

  /** Prepares sub-agents for calls that create one; no effect without any. */
  async prepare(allowed: readonly JudgedCall[], calls: readonly ToolCall[]): Promise<PreparedSpawns> {
    const wanted = allowed.filter(({ call }) => isSpawn(call));
    if (wanted.length === 0) return none;
    const placed = wanted.map((judged) => ({ judged, position: calls.indexOf(judged.call) }));
    return this.#parts.calls.prepareSpawns(this.#scope, placed);
  }

  /** The same for calls of a step that was stored before. */
  async begin(step: number, { spawns }: PreparedSpawns): Promise<void> {
    if (spawns.length > 0) await this.#parts.store.subAgents.begin(step, spawns, this.#scope.lease);
    this.begun(spawns);
  }

  /** They are there, and may begin. */
  begun(spawns: readonly NewSubAgent[]): void {
    if (spawns.length > 0) this.#parts.calls.spawned();
  }

  /** Those of a step that calls for some. */
  async ofStep({ seq, body }: Step): Promise<readonly SubAgent[]> {
    const calls = body.kind === "model" && body.answer.toolCalls.some(isSpawn);
    return calls ? this.#parts.store.subAgents.ofStep(seq) : [];
  }

  /** Notes that the other calls of the step are given out. False when they were before. */
  release(step: number): Promise<boolean> {
    const { store, clock } = this.#parts;
    return store.subAgents.release(step, clock.now(), this.#scope.lease);
  }

  /** Results of a step's sub-agents. */
  async results(last: Step): Promise<readonly GivenResult[]> {
    return (await this.ofStep(last)).map(toResult);
  }
}

/** Some of them have not handed over their results yet. */
export function areAwaited(agents: readonly SubAgent[]): boolean {
  return agents.some(isAwaited);
}

function toResult(agent: SubAgent): GivenResult {
  const { call: callId, id, background, session, state, text = "", lineage } = agent;
  if (session === undefined) return { callId, output: text, isError: true, sources: ofHost`` };
  const sources = sourced("", [...lineage.origins, "agent"]);
  if (!background) return { callId, output: describeCarriedOut(agent), isError: state !== "done", sources };
  const output = `${id} works in the background. Its result comes as work when it is done; agent_status tells how it stands.`;
  return { callId, output, isError: false, sources: ofHost`` };
}
