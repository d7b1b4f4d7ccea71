import type { Fingerprint } from "../audit/fingerprint.ts";
import type { AuditType } from "../audit/types.ts";
import type { Actor } from "../domain/actor.ts";
import type { Group } from "../domain/group.ts";
import type { ToolCall } from "../domain/model.ts";
import type { TurnPhase } from "../domain/turn.ts";
import type { LimitReporter } from "./limits.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { SessionLogs } from "../lib/session-log.ts";
import { describeRest } from "../intake/resting-notice.ts";
import type { TurnPace } from "../intake/turn-pace.ts";
import type { PoolEvents } from "../sandbox/pool/pool-parts.ts";
import type { TurnEvents, TurnScope } from "../turns/turn-parts.ts";

/** A record of the audit log, as the parts of the host write it. */
export interface EventRecord {
  readonly type: AuditType;
  readonly group?: string | undefined;
  readonly session?: string | undefined;
  readonly turn?: string | undefined;
  readonly actor: Actor;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Resolves when the record is on disk. */
export type PutOnRecord = (record: EventRecord) => Promise<void>;

export interface EventParts {
  readonly record: PutOnRecord;
  readonly metrics: Pick<Metrics, "turnEnded" | "turnPhase">;
  readonly limits: LimitReporter;
  readonly logs: SessionLogs;
  /** Length and keyed hash of a text: proof of what was said without saying it. */
  readonly fingerprint: (text: string) => Fingerprint;
  readonly pace: Pick<TurnPace, "began" | "ended">;
}

export interface PoolEventParts extends Pick<EventParts, "record" | "logs" | "limits"> {
  /** Sends a notice of the host to the group's chat. */
  readonly notify: (group: Group, text: string) => Promise<void>;
}

/** Puts what happens to containers on record. */
export function createPoolEvents({ record, logs, limits, notify }: PoolEventParts): PoolEvents {
  const say = (session: string, group: string, text: string): void =>
    logs.of({ id: session, group }).write("host", "info", text);
  return {
    started: async (container, elapsedMs) => {
      const { group, session, generation, name } = container;
      say(session, group, `container ${name} is ready after ${Math.round(elapsedMs)} ms`);
      const data = { name, container: container.container, generation, elapsedMs: Math.round(elapsedMs) };
      await record({ type: "container-attested", group, session, actor: "host", data });
    },
    adopted: async ({ group, session, generation, name, container }) => {
      say(session, group, `container ${name} of an earlier start is taken over`);
      await record({ type: "container-adopted", group, session, actor: "host", data: { name, container, generation } });
    },
    froze: ({ session, group, name }) => say(session, group, `container ${name} is frozen until the next message`),
    thawed: ({ session, group, name }, elapsedMs) =>
      say(session, group, `container ${name} goes on after ${Math.round(elapsedMs)} ms`),
    refused: async (group, session, reason) => {
      say(session, group, `a container could not be started: ${reason}`);
      await record({ type: "container-refused", group, session, actor: "host", data: { reason } });
    },
    stopped: async ({ group, session, generation, name, container }, reason) => {
      say(session, group, `container ${name} is ended: ${reason}`);
      const data = { name, container, generation, reason };
      await record({ type: "container-stop", group, session, actor: "host", data });
    },
    limitHit: async (group, { session }, hit) => {
      const isNews = await limits.report({ group: group.name, session }, hit);
      if (isNews) await notify(group, hit.text);
    },
    orphanRemoved: async (name, reason) => {
      await record({ type: "container-orphan-removed", actor: "host", data: { name, reason } });
    },
  };
}

/** Of what an agent says about its own failure. */
const claimChars = 300;

const about = ({ turn, session, group }: TurnScope) => ({ group: group.name, session: session.id, turn: turn.id });

/** Puts what happens in turns on record and counts it. */
export function createTurnEvents({ record, metrics, logs, limits, fingerprint, pace }: EventParts): TurnEvents {
  const log = ({ session, group }: TurnScope, text: string): void =>
    logs.of({ id: session.id, group: group.name }).write("host", "info", text);
  const shortly = (call: ToolCall) => ({
    id: call.id,
    name: call.name,
    input: fingerprint(JSON.stringify(call.input)),
  });
  return {
    started: async (scope, messages, resumed) => {
      pace.began(scope.turn, messages);
      log(scope, `turn ${scope.turn.id} ${resumed ? "goes on" : "begins"}`);
      const data = {
        resumed,
        messages: messages.map((message) => message.id),
        senders: messages.map(({ sender }) => sender.id),
      };
      await record({ type: "turn-start", ...about(scope), actor: "host", data });
    },
    toolCalls: async (scope, allowed, denied) => {
      for (const call of allowed) {
        const data = shortly(call);
        log(scope, `tool ${call.name}, input ${JSON.stringify(data.input)}`);
        await record({ type: "tool-call", ...about(scope), actor: "model", data });
      }
      for (const { call, reason } of denied) {
        log(scope, `tool ${call.name} is denied: ${reason}`);
        await record({ type: "tool-denied", ...about(scope), actor: "model", data: { ...shortly(call), reason } });
      }
    },
    // What it is at are words of the tool's input, and those stay in the store.
    progress: (scope, text) => log(scope, `the agent is at work (${text.length} characters)`),
    gaveUp: (scope, claim) => log(scope, `the agent gave up: ${claim.slice(0, claimChars)}`),
    limitHit: async (scope, hit) => {
      await limits.report(about(scope), hit);
    },
    overstepped: async (scope, reason) => {
      log(scope, `the agent overstepped: ${reason}`);
      await record({ type: "mailbox-violation", ...about(scope), actor: "agent", data: { reason } });
    },
    ended: async (scope, { state, reason, elapsedMs, times }) => {
      pace.ended(scope.turn);
      const seconds = (elapsedMs / 1000).toFixed(1);
      log(scope, `turn ${scope.turn.id} is ${state} after ${seconds} s${reason === undefined ? "" : `: ${reason}`}`);
      metrics.turnEnded(state, elapsedMs);
      for (const [phase, ms] of Object.entries(times)) metrics.turnPhase(phase as TurnPhase, ms);
      await record({ type: "turn-end", ...about(scope), actor: "host", data: { state, reason, elapsedMs } });
    },
  };
}

/** A few lines for `/status` in a chat: nothing that members may not know. */
export function describeForChat(parts: {
  readonly assistantName: string;
  readonly models: readonly string[];
  readonly waiting: number;
  readonly active: boolean;
  readonly container: string | undefined;
  readonly group: Group;
  readonly tokensToday: number;
  readonly resting: Parameters<typeof describeRest>[0] | undefined;
}): string {
  const { resting } = parts;
  const { assistantName, models, waiting, active, container, group, tokensToday } = parts;
  return [
    `${assistantName} in group ${group.name}: ${active ? "working" : "idle"}, ${waiting} waiting.`,
    `Container: ${container ?? "none (starts with the next message)"}. Model: ${models.join(", then ")}. Tokens today: ${tokensToday}.`,
    ...(resting ? [describeRest(resting)] : []),
  ].join("\n");
}
