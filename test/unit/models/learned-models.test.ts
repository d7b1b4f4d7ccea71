import { join } from "node:path";

import pino from "pino";
import { expect, test } from "vitest";

import { TokenCalibration } from "../../../src/models/costs/calibration.ts";
import type { Store } from "../../../src/stores/contract/store.ts";
import { forgetLearned, keepLearned } from "../../../src/models/knowledge/learned-models.ts";
import { openStoreAt } from "../../support/open-store-at.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const refused = { estimated: 18_000, answerTokens: 2_000, windowTokens: 100_000, saidTokens: 8_192 };
const described = (baseUrl: string) => ({ providers: { local: { kind: "openai", baseUrl } }, capabilities: {} });

/** A host's life: begins with what the store has, and ends when everything is written. */
function begin(store: Store, baseUrl = "http://a/v1") {
  const stack = new AsyncDisposableStack();
  const calibration = new TokenCalibration();
  const changed: (() => void)[] = [];
  const live = {
    current: { models: described(baseUrl) },
    onChange: (listener: () => void) => void changed.push(listener),
  };
  keepLearned({ live, store, clock: { now: () => 5 }, logger: pino({ level: "silent" }) }, stack, calibration);
  const change = (address: string): void => {
    live.current = { models: described(address) };
    for (const listener of changed) listener();
  };
  return { calibration, change, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

async function inOneLife<T>(life: ReturnType<typeof begin>, use: (life: ReturnType<typeof begin>) => T): Promise<T> {
  const result = use(life);
  await life[Symbol.asyncDispose]();
  return result;
}

/** Facts known to a host that starts now. */
async function known(store: Store, baseUrl?: string): Promise<number> {
  const life = begin(store, baseUrl);
  await life[Symbol.asyncDispose]();
  return life.calibration.windowOf("local/llama");
}

test("a window that was learned is known to the next life of the host, unless another server is behind the name", async () => {
  await using folder = await temporaryFolder();
  await using store = await openStoreAt(join(folder.path, "crabpot.sqlite"));
  await inOneLife(begin(store), ({ calibration }) => calibration.tooLong("local/llama", refused));

  const [same, other, afterOther] = [await known(store), await known(store, "http://b/v1"), await known(store)];

  expect([same, other, afterOther]).toEqual([8_192, Infinity, Infinity]);
});

test("a change of the model's server makes it forgotten while the host runs, and one of something else does not", async () => {
  await using folder = await temporaryFolder();
  await using store = await openStoreAt(join(folder.path, "crabpot.sqlite"));
  const windows = await inOneLife(begin(store), ({ calibration, change }) => {
    calibration.tooLong("local/llama", refused);
    change("http://a/v1");
    const before = calibration.windowOf("local/llama");
    change("http://b/v1");
    return [before, calibration.windowOf("local/llama")];
  });

  expect(windows).toEqual([8_192, Infinity]);
  expect(await store.usage.learnedWindows()).toEqual([]);
});

test("what is to be forgotten is, in memory and in the store", async () => {
  await using folder = await temporaryFolder();
  await using store = await openStoreAt(join(folder.path, "crabpot.sqlite"));
  await inOneLife(begin(store), ({ calibration }) => calibration.tooLong("local/llama", refused));
  const life = begin(store);
  life.calibration.tooLong("local/llama", { ...refused, saidTokens: 4_096 });

  await forgetLearned(store, life, ["local/llama"]);
  await life[Symbol.asyncDispose]();

  expect([life.calibration.windowOf("local/llama"), await known(store)]).toEqual([Infinity, Infinity]);
});
