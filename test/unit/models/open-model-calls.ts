import { join } from "node:path";

import { pino } from "pino";

import { estimatePromptTokens } from "../../../src/turns/context/tokens.ts";
import { AppError } from "../../../src/lib/app-error.ts";
import type { Clock } from "../../../src/lib/time/clock.ts";
import type { CapabilityOverride } from "../../../src/models/knowledge/capabilities.ts";
import { TokenCalibration } from "../../../src/models/costs/calibration.ts";
import { CircuitBreakers } from "../../../src/models/routes/breaker.ts";
import type { RouteEntry } from "../../../src/models/routes/routes.ts";
import { openLateProvider } from "../../../src/models/catalog.ts";
import { createModelCalls } from "../../../src/models/model-calls.ts";
import type { ModelCall, ModelCalls, ModelCallsOptions } from "../../../src/models/model-calls.ts";
import type { NewEvent } from "../../../src/domain/events/event.ts";
import type { Sleep } from "../../../src/lib/time/sleep.ts";
import type { UsageStore } from "../../../src/stores/contract/usage-store.ts";
import { startAnthropicServer } from "../../support/model-servers/anthropic.ts";
import type { ModelScript, ModelServer } from "../../support/model-servers/model-server.ts";
import { startOpenAiServer } from "../../support/model-servers/openai.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { openStoreAt } from "../../support/open-store-at.ts";

const noLimits = { tokensPerDay: undefined, usdPerDay: undefined };
const halfPastSix = Date.UTC(2026, 0, 15, 18, 30);
const clock: Clock = { now: () => halfPastSix, monotonic: () => 0 };

interface Setting {
  readonly first?: ModelScript;
  readonly second?: ModelScript;
  readonly route?: readonly (string | RouteEntry)[];
  /** Clock of the breakers. */
  readonly now?: () => number;
  readonly attempts?: number;
  readonly capabilities?: Readonly<Record<string, CapabilityOverride>>;
  readonly budgets?: { perGroup?: Limits; total?: Limits };
  readonly wait?: Sleep;
  /** By SHA-256. */
  readonly images?: ReadonlyMap<string, Uint8Array>;
  readonly publish?: ModelCallsOptions["publish"];
}
type Limits = { tokensPerDay?: number; usdPerDay?: number };

export interface OpenedModelCalls extends AsyncDisposable {
  readonly models: ModelCalls;
  /** A server of Anthropic's format behind `claude`. */
  readonly first: ModelServer;
  /** A server of OpenAI's format behind `gpt`. */
  readonly second: ModelServer;
  readonly usage: UsageStore;
  readonly waits: number[];
  readonly records: NewEvent[];
}

/** The day on which the clock stands. */
export const day = "2026-01-15";

/** Model calls over real servers, a real store and a clock that stands still. */
export async function openModelCalls(setting: Setting): Promise<OpenedModelCalls> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder());
  const store = stack.use(await openStoreAt(join(folder.path, "crabpot.sqlite")));
  const first = stack.use(await startAnthropicServer(setting.first ?? (() => ({ text: "first" }))));
  const second = stack.use(await startOpenAiServer(setting.second ?? (() => ({ text: "second" }))));
  const models = {
    default: "main",
    routes: { main: setting.route ?? ["claude/small", "gpt/small"] },
    providers: {
      claude: { kind: "anthropic", apiKey: "sk-test-secret-1", baseUrl: first.url },
      gpt: { kind: "openai", apiKey: "sk-test-secret-2", baseUrl: second.url },
      offline: { kind: "offline" },
    } as const,
    capabilities: setting.capabilities ?? {},
    attempts: setting.attempts ?? 3,
    timeoutSeconds: 20,
  };
  const waits: number[] = [];
  const records: NewEvent[] = [];
  const calls = createModelCalls({
    models,
    calibration: new TokenCalibration(),
    breakers: breakersBy(setting),
    budgets: { perGroup: setting.budgets?.perGroup ?? {}, total: setting.budgets?.total ?? {}, warnAtPercent: 80 },
    providers: new Map(
      Object.entries(models.providers).map(([name, settings]) => [
        name,
        openLateProvider(name, settings, { silenceMs: models.timeoutSeconds * 1000 }),
      ]),
    ),
    usage: store.usage,
    readImage: async (sha256) => setting.images?.get(sha256) ?? Promise.reject(new Error("there is no such image")),
    estimateTokens: estimatePromptTokens,
    clock,
    random: () => 0.5,
    wait:
      setting.wait ??
      ((ms) => {
        waits.push(ms);
        return Promise.resolve();
      }),
    logger: pino({ level: "silent" }),
    publish:
      setting.publish ??
      ((record) => {
        records.push(record);
        return Promise.resolve();
      }),
  });
  const owned = stack.move();
  return {
    models: calls,
    first,
    second,
    usage: store.usage,
    waits,
    records,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** A call of the group `family` on the default route. */
export function modelCall(changes: Partial<ModelCall> = {}): ModelCall {
  return {
    group: "family",
    route: undefined,
    groupBudget: noLimits,
    system: ["You are crab."],
    messages: [{ role: "user", text: "hello" }],
    tools: [],
    signal: new AbortController().signal,
    ...changes,
  };
}

/** Code and text of the AppError that a call ends with. */
export async function codeAndText(promise: Promise<unknown>): Promise<{ code: string; message: string }> {
  const error = await promise.catch((caught: unknown) => caught);
  if (!(error instanceof AppError)) throw error;
  return { code: error.code, message: error.message };
}

function breakersBy({ now = () => 0 }: Setting): CircuitBreakers {
  return new CircuitBreakers(now);
}
