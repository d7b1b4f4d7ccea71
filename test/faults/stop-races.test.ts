import { stringify } from "yaml";
import { expect, test } from "vitest";

import type { NewStep, Store } from "../../src/stores/contract/store.ts";
import { FakeChannel } from "../fakes/fake-channel.ts";
import { AgentsInProcess } from "../support/agents-in-process.ts";
import { newHome } from "../support/crabpot.ts";
import { startInProcess } from "../support/embedded-host.ts";
import { startOpenAiServer } from "../support/model-servers/openai.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";

/** Holds calls of a method of the store back, or what they come to, from `hold` until `release`. */
class HeldCalls {
  readonly #method: "begin" | "addStep" | "addAttempt";
  readonly #moment: "before" | "after";
  #fits: (step: Partial<NewStep>) => boolean = () => true;
  #held: PromiseWithResolvers<void> | undefined;
  #came = Promise.withResolvers<void>();

  constructor(moment: "before" | "after", method: "begin" | "addStep" | "addAttempt") {
    this.#moment = moment;
    this.#method = method;
  }

  /** The store with this in front of it. */
  readonly store = (store: Store): Store => {
    const turns = new Proxy(store.turns, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value !== "function") return value;
        const call = (...given: unknown[]): unknown => Reflect.apply(value, target, given);
        return key === this.#method ? (...given: unknown[]) => this.#pass(given, () => call(...given)) : call;
      },
    });
    return { ...store, turns };
  };

  /** Those of these parameters, or all. */
  hold(fits: (step: Partial<NewStep>) => boolean = () => true): void {
    this.#fits = fits;
    this.#held = Promise.withResolvers();
    this.#came = Promise.withResolvers();
  }

  /** Resolves when a call is held back. */
  get came(): Promise<void> {
    return this.#came.promise;
  }

  release(): void {
    this.#held?.resolve();
    this.#held = undefined;
  }

  async #pass([, step]: readonly unknown[], call: () => unknown): Promise<unknown> {
    if (!this.#held || !this.#fits(step as NewStep)) return call();
    const done = this.#moment === "after" ? await call() : undefined;
    this.#came.resolve();
    await this.#held.promise;
    return this.#moment === "after" ? done : call();
  }
}

async function openHost(script: ModelScript, calls: HeldCalls) {
  await using stack = new AsyncDisposableStack();
  const model = stack.use(await startOpenAiServer(script));
  const config = {
    channels: { fake: {} },
    models: {
      routes: { main: ["gpt/test"] },
      providers: { gpt: { kind: "openai", apiKey: "sk-none-needed-here", baseUrl: model.url } },
    },
    limits: { turnsPerHour: 0, loopTurns: 0 },
    groups: { family: { channel: "fake", chat: "family", trigger: "always" } },
  };
  const { home } = stack.use(await newHome({ "config.yaml": stringify(config) }));
  const channel = new FakeChannel();
  const agents = new AgentsInProcess();
  const start = () => startInProcess(home, { channel, agents, intercept: { store: calls.store } });
  const host = stack.use(await start());
  const owned = stack.move();
  return { channel, model, host, start, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

test("a stop that comes while a turn is about to begin with a message drops it: nothing is done for it", async () => {
  const calls = new HeldCalls("before", "begin");
  await using running = await openHost(() => ({ text: "did it" }), calls);
  const { channel, model, host } = running;
  calls.hold();
  await channel.say("family", "do it");
  await calls.came;

  await channel.say("family", "/stop");
  calls.release();
  await host.settled();
  const heard = channel.heard("family");
  await channel.say("family", "do the other thing");
  await host.settled();

  expect(heard).toEqual(['Stopped by "anna". The waiting message "do it" of "anna" was dropped.']);
  expect(channel.heard("family").slice(1)).toEqual(["did it"]);
  expect(model.requests.map(({ lastText }) => lastText.includes("do it"))).toEqual([false]);
});

test("a stop that comes when a turn has begun and nothing works on it yet ends it before a model is asked", async () => {
  const calls = new HeldCalls("after", "begin");
  await using running = await openHost(() => ({ text: "did it" }), calls);
  const { channel, model, host } = running;
  calls.hold();
  await channel.say("family", "do it");
  await calls.came;

  await channel.say("family", "/stop");
  calls.release();
  await host.settled();

  expect(channel.heard("family")).toEqual(['Stopped by "anna".']);
  expect(model.requests).toEqual([]);
});

test("a stop that drops what was about to go into a turn of somebody else leaves that turn to its end", async () => {
  const calls = new HeldCalls("before", "addStep");
  const asked = Promise.withResolvers<void>();
  const written = Promise.withResolvers<void>();
  await using running = await openHost(async ({ index, toolOutputs }) => {
    if (toolOutputs.length > 0) return { text: "did it" };
    if (index === 0) asked.resolve();
    await written.promise;
    return { toolCalls: [{ name: "send_message", input: { text: "wait" } }] };
  }, calls);
  const { channel, model, host } = running;
  await channel.say("family", "do it");
  await asked.promise;
  await channel.say("family", "and that", { sender: "bob" });
  calls.hold(({ takes }) => takes !== undefined);
  written.resolve();
  await calls.came;

  await channel.say("family", "/stop", { sender: "bob" });
  calls.release();
  await host.settled();

  expect(channel.heard("family").at(-1)).toBe("did it");
  expect(channel.heard("family").join("\n")).toContain('The waiting message "and that" of "bob" was dropped.');
  expect(
    model.requests
      .at(-1)
      ?.messages.map(({ text }) => text)
      .join("\n"),
  ).not.toContain("and that");
});

test("a stop that comes while a turn of an earlier life is taken up again ends it before a model is asked", async () => {
  const calls = new HeldCalls("after", "addAttempt");
  const asked = Promise.withResolvers<void>();
  await using running = await openHost(({ index }) => {
    asked.resolve();
    return index === 0 ? { fault: "silence" } : { text: "did it" };
  }, calls);
  const { channel, model } = running;
  await channel.say("family", "do it");
  await asked.promise;
  await running.host[Symbol.asyncDispose]();
  calls.hold();
  await using host = await running.start();
  await calls.came;

  await channel.say("family", "/stop");
  calls.release();
  await host.settled();

  expect(channel.heard("family")).toEqual(['Stopped by "anna".']);
  expect(model.requests).toHaveLength(1);
});
