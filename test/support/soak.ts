import { setTimeout as delay } from "node:timers/promises";

import { findViolations } from "./checker.ts";
import type { TestHost } from "./host.ts";
import { startModelHost } from "./model-host.ts";
import type { ModelScript, ModelServerRequest, ScriptedReply } from "./model-servers/model-server.ts";
import { PrivateEngine } from "./private-engine.ts";
import type { Random } from "./random.ts";
import { seededRandom } from "./random.ts";
import { Client, endAndAudit, listTurns, speakInAll } from "./traffic.ts";
import { troubles } from "./troubles.ts";
import type { TroubleName } from "./troubles.ts";

export interface SoakOptions {
  readonly seed: number;
  readonly groups: number;
  /** New messages are sent for so long … */
  readonly minutes?: number | undefined;
  /** … or until there are this many. */
  readonly messages?: number | undefined;
  /** Milliseconds between two faults, at most. */
  readonly faultEveryMs: number;
  /** Left out: all of them. */
  readonly faults?: readonly TroubleName[] | undefined;
  /** Left out: one is made. */
  readonly engine?: PrivateEngine;
  readonly say: (line: string) => void;
  /** Aborted: nothing more is sent; what was sent is still checked. */
  readonly enough?: AbortSignal;
}

export interface SoakResult {
  readonly violations: readonly string[];
  readonly accepted: number;
  readonly replies: number;
  readonly notices: readonly string[];
  readonly faults: Readonly<Record<string, number>>;
  readonly hostOutput: readonly string[];
}

const answersWithinMs = 240_000;
/** Unlimited daily budgets: a soak may last for hours. */
const plenty = { messages: 100_000_000, megabytes: 1_000_000 };

/** Traffic in many groups while everything around it breaks at random, then peace, then the checker's verdict. */
export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const random = seededRandom(options.seed);
  const groups = Array.from({ length: options.groups }, (_, index) => `group-${index}`);
  await using stack = new AsyncDisposableStack();
  const engine = options.engine ?? stack.use(await PrivateEngine.start());
  const weather: Weather = { modelTroublePercent: 8 };
  const { host } = stack.use(
    await startModelHost(fickleModel(weather, random), {
      groups: Object.fromEntries(groups.map((group) => [group, {}])),
      variables: { DOCKER_HOST: engine.url },
      config: {
        sessions: { maxHot: 6, silenceTimeoutSeconds: 6 },
        sandbox: { memoryMb: 256, pids: 128 },
        intake: { perGroupPerDay: plenty, perMemberPerDay: plenty },
        limits: { turnsPerHour: 0, loopTurns: 0 },
      },
    }),
  );
  const client = new Client(host);
  const chaos = new AbortController();
  const counts: Record<string, number> = {};
  const keeping = keepRunning(host, random, chaos.signal);
  const breaking = breakThings({ options, host, engine, random, counts, signal: chaos.signal });
  const reporting = report(options, client, counts, chaos.signal);
  const reading = readOn(client, chaos.signal);
  await speakInAll(client, planOf(options, groups, random), random);
  await nearlyAnswered(client, options.groups / 4, options.enough);
  chaos.abort();
  weather.modelTroublePercent = 0;
  await Promise.all([keeping, breaking, reporting, reading]);
  engine.thaw();
  await engine.boot();
  await bootIfNeeded(host);
  options.say("peace: waiting for the last answers");
  await client.readAll(answersWithinMs);
  const turns = await listTurns(host, groups);
  const end = await endAndAudit(host);
  await engine.removeContainers();
  const violations = findViolations({ sent: client.sent, replies: client.replies, turns, ...end });
  if (end.exitCode !== 0) violations.push(`the host ended with ${end.exitCode}`);
  return {
    violations,
    accepted: client.sent.filter(({ accepted }) => accepted).length,
    replies: client.replies.length,
    notices: client.replies.filter(({ kind }) => kind === "notice").map(({ text }) => text ?? ""),
    faults: counts,
    hostOutput: host.output,
  };
}

/** It may be on its way up, or down, or gone. */
async function bootIfNeeded(host: TestHost): Promise<void> {
  if (host.isRunning && (await host.isReadyWithin(30_000))) return;
  if (!host.isRunning) await host.boot();
}

interface Weather {
  modelTroublePercent: number;
}

function planOf({ minutes, messages, enough }: SoakOptions, groups: readonly string[], random: Random) {
  const end = minutes === undefined ? Infinity : performance.now() + minutes * 60_000;
  const perGroup = messages === undefined ? Infinity : Math.ceil(messages / groups.length);
  return {
    groups,
    cutPercent: 5,
    pauseMs: () => random.between(0, 4_000),
    next: (group: string, index: number) => {
      if (index >= perGroup || performance.now() > end || enough?.aborted) return undefined;
      return `@crab ${random.chance(30) ? "work" : "say"} ${group}-${index}`;
    },
  };
}

/** The faults go on until all but a few messages are answered, or for as long as all of them would need in peace. */
async function nearlyAnswered(client: Client, few: number, enough?: AbortSignal): Promise<void> {
  const end = performance.now() + answersWithinMs;
  for (; client.unanswered.length > few && performance.now() < end; await delay(200)) if (enough?.aborted) return;
}

async function readOn(client: Client, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await client.read();
    await delay(100);
  }
}

/** Restarts ended hosts, like a service manager. */
async function keepRunning(host: TestHost, random: Random, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    if (!host.isRunning) host.launch();
    await delay(random.between(100, 800), undefined, { signal }).catch(() => undefined);
  }
}

async function breakThings(parts: {
  readonly options: SoakOptions;
  readonly host: TestHost;
  readonly engine: PrivateEngine;
  readonly random: Random;
  readonly counts: Record<string, number>;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { options, host, engine, random, counts, signal } = parts;
  const names = options.faults ?? (Object.keys(troubles) as TroubleName[]);
  while (!signal.aborted) {
    await delay(random.between(0, options.faultEveryMs), undefined, { signal }).catch(() => undefined);
    const name = random.pick(names);
    if (name === undefined) return;
    counts[name] = (counts[name] ?? 0) + 1;
    // What is to be broken may just be broken.
    await troubles[name]({ host, engine, random }).catch((error: unknown) => options.say(`${name}: ${String(error)}`));
  }
}

async function report(
  options: SoakOptions,
  client: Client,
  counts: Readonly<Record<string, number>>,
  signal: AbortSignal,
): Promise<void> {
  const began = performance.now();
  while (!signal.aborted) {
    await delay(5_000, undefined, { signal }).catch(() => undefined);
    const accepted = client.sent.filter((message) => message.accepted).length;
    const faults = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const seconds = Math.round((performance.now() - began) / 1000);
    options.say(
      `${seconds} s: ${accepted} messages taken, ${accepted - client.unanswered.length} answered, ${faults} faults`,
    );
  }
}

/** Answers at once, or first runs a command; now and then slow, rate-limited, broken or cut off in the middle. */
function fickleModel(weather: Weather, random: Random): ModelScript {
  return async (request) => {
    if (random.chance(weather.modelTroublePercent)) return modelTrouble(request, random);
    return answerOf(request);
  };
}

function answerOf(request: ModelServerRequest): ScriptedReply {
  if (request.toolOutputs.length === 0 && request.lastText.includes("work"))
    return { toolCalls: [{ name: "shell", input: { command: "echo working >> work.log; sleep 0.3; echo done" } }] };
  return { text: `done ${request.index}` };
}

async function modelTrouble(request: ModelServerRequest, random: Random): Promise<ScriptedReply> {
  const answer = { text: "this answer never arrives in one piece" };
  const kinds: readonly (() => Promise<ScriptedReply>)[] = [
    async () => ({ fault: "status", status: 429, headers: { "retry-after": "1" } }),
    async () => ({ fault: "status", status: 503 }),
    async () => ({ fault: "cut", answer }),
    async () => ({ fault: "hang-up" }),
    async () => {
      await delay(random.between(500, 3_000));
      return answerOf(request);
    },
  ];
  return (await random.pick(kinds)?.()) ?? answerOf(request);
}
