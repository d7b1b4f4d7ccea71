import { randomUUID } from "node:crypto";

import * as fc from "fast-check";
import pino from "pino";
import { ofHost } from "../../../src/domain/rights/sourced.ts";
import { expect, test } from "vitest";

import { estimateStepTokens } from "../../../src/turns/context/tokens.ts";
import type { ModelAnswer, ModelMessage } from "../../../src/domain/turns/model.ts";
import type { Session } from "../../../src/domain/turns/session.ts";
import type { StepBody, Turn } from "../../../src/domain/turns/turn.ts";
import type { NewEvent } from "../../../src/domain/events/event.ts";
import { AppError } from "../../../src/lib/app-error.ts";
import { systemClock } from "../../../src/lib/time/clock.ts";
import type { Store } from "../../../src/stores/contract/store.ts";
import { type CompactingScope, type CompactionOutcome, Compactor } from "../../../src/turns/compaction/compactor.ts";
import { createFit } from "../../../src/turns/compaction/fit-conversation.ts";
import { ShownConversations } from "../../../src/turns/compaction/shown-conversation.ts";
import { askModel } from "../../../src/turns/conversation/ask-model.ts";
import { CacheWatch } from "../../../src/turns/conversation/cache-watch.ts";
import { ResultClearing } from "../../../src/turns/conversation/clearing.ts";
import { ShownPictures } from "../../../src/turns/conversation/shown-pictures.ts";
import { byMessage } from "../../contracts/store-setup.ts";
import { openTestStore } from "../../support/open-test-store.ts";

let passedMs = 0;
/** Clock that advances enough between looks for retries. */
const clock = { now: () => systemClock.now(), monotonic: () => (passedMs += 60_001) };

const window = { windowTokens: 4_000, promptTokens: 3_500 };

/** Reaction of the model to a request for a summary. */
type Behaviour = "good" | "empty" | "too long" | "lies" | "calls tools" | "fails" | "hangs";

interface Call {
  readonly messages: readonly string[];
  readonly isCompaction: boolean;
  /** Changes of the beginning that were declared before. */
  readonly changes: number;
}

/** In-memory state of a host, lost in a crash. */
interface Life {
  readonly shown: ShownConversations;
  readonly compactor: Compactor;
  readonly clearing: ResultClearing;
  readonly fit: ReturnType<typeof createFit>;
}

/** A conversation in a real store, with a model that does as it is told. */
class Conversation {
  readonly #store: Store;
  readonly calls: Call[] = [];
  readonly events: NewEvent["type"][] = [];
  behaviour: Behaviour = "good";
  /** Maximum characters that the model's server accepts, revealed only by refusals. */
  takesChars = Infinity;
  #promptTokens = window.promptTokens;
  /** The host dies at the next writing of a summary. */
  dies: "before" | "after" | undefined;
  #session = "";
  #life: Life;
  #turns = 0;

  private constructor(store: Store) {
    this.#store = store;
    this.#life = this.#begin();
  }

  static async open(store: Store): Promise<Conversation> {
    const conversation = new Conversation(store);
    conversation.#session = (await store.sessions.open(`main:terminal:${randomUUID()}`, "family")).id;
    return conversation;
  }

  /** After a crash nothing is known but what is stored. */
  restart(): void {
    this.#life = this.#begin();
  }

  #begin(): Life {
    const store = this.#store;
    const add: Store["summaries"]["add"] = async (...given) => {
      const { dies } = this;
      this.dies = undefined;
      if (dies === "before") throw new Error("crash");
      const added = await store.summaries.add(...given);
      if (dies === "after") throw new Error("crash");
      return added;
    };
    const { sessions } = store;
    const cacheWatch = new CacheWatch(async () => undefined);
    const clearing = new ResultClearing({ sessions, cacheWatch, now: () => clock.now() });
    const captions = { find: async () => new Map<string, string>(), make: async () => 0 };
    const pictures = new ShownPictures({ sessions, captions });
    const shown = new ShownConversations({
      clearing,
      pictures,
      store,
      offered: { of: async () => ({ definitions: [] }) },
      prompts: { systemOf: async () => [ofHost`You are crab.`], renew: async () => [ofHost`You are crab.`] },
      before: async () => undefined,
    });
    const publish = async ({ type }: NewEvent): Promise<void> => void this.events.push(type);
    const compactor = new Compactor({ store: { summaries: { add } }, shown, publish, clock });
    const fit = createFit({ shown, compactor, clearing, logger: pino({ level: "silent" }) });
    return { shown, compactor, clearing, fit };
  }

  async session(): Promise<Session> {
    const session = await this.#store.sessions.get(this.#session);
    if (!session) throw new Error("the session is gone");
    return session;
  }

  async #scopeOf(turn: Turn): Promise<CompactingScope> {
    const complete = (call: { readonly messages: readonly ModelMessage[]; readonly signal: AbortSignal }) =>
      this.#complete(call);
    return {
      turn,
      session: await this.session(),
      group: { name: "family", model: undefined, budget: {} },
      models: {
        complete,
        windowTokens: () => window.windowTokens,
        promptTokens: () => this.#promptTokens,
        cacheOf: () => ({ ms: 300_000, isPriced: () => true }),
      },
      lease: undefined,
    } as unknown as CompactingScope;
  }

  async #complete({ messages, signal }: { readonly messages: readonly ModelMessage[]; readonly signal: AbortSignal }) {
    const last = messages.at(-1);
    const isCompaction = last?.role === "user" && (last.text ?? "").includes('kind="compaction"');
    const changes = this.events.filter((type) => type === "context.compacted" || type === "context.evicted").length;
    const sent = messages.map((message) => JSON.stringify(message));
    if (sent.join("").length > this.takesChars) {
      this.#promptTokens *= 0.75;
      throw new AppError("context_too_large", "The conversation does not fit in any model of the route.");
    }
    this.calls.push({ messages: sent, isCompaction, changes });
    if (!isCompaction) return answer(`noted ${this.#turns}`);
    if (this.behaviour === "fails") throw new AppError("model_unavailable", "No model answers.");
    if (this.behaviour === "hangs") {
      const { promise, reject } = Promise.withResolvers<never>();
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      if (signal.aborted) reject(signal.reason as Error);
      return promise;
    }
    const all = messages.map((message) => ("text" in message ? (message.text ?? "") : "")).join("\n");
    return summaryAs(this.behaviour, all);
  }

  /** Somebody says this, the agent calls a tool as often, and answers. False: the host has died in the middle. */
  async say(text: string, outputs: readonly string[]): Promise<boolean> {
    const { turns } = this.#store;
    const id = randomUUID();
    this.#turns += 1;
    const session = await this.session();
    const begun = { id, session: session.id, group: "family", conversation: session.conversation, ...byMessage, at: 1 };
    await turns.begin(
      begun,
      newStep({ kind: "user", text: `<messages><message from="Ann">${text}</message></messages>` }),
    );
    try {
      await this.#work(id, outputs);
      return true;
    } catch (error) {
      if ((error as Error).message !== "crash") throw error;
      this.restart();
      await this.#work(id, []);
      return false;
    }
  }

  async #work(id: string, outputs: readonly string[]): Promise<void> {
    const { turns } = this.#store;
    const turn = (await turns.get(id)) as Turn;
    const scope = { ...(await this.#scopeOf(turn)), clock: { enter: () => undefined } } as never;
    const options = {
      fit: this.#life.fit,
      answered: () => undefined,
      clearing: this.#life.clearing,
      watchers: { watchAnswer: () => undefined },
    };
    const { signal } = new AbortController();
    for (const [index, output] of outputs.entries()) {
      await askModel(options, scope, signal);
      const call = { id: `${id}-${index}`, name: "shell", input: { command: "ls" } };
      await turns.addStep(id, newStep({ kind: "model", answer: { ...answer(""), toolCalls: [call] }, denied: [] }));
      const results = [{ callId: call.id, output, isError: false }];
      await turns.addStep(id, newStep({ kind: "tools", results }));
    }
    const last = await askModel(options, scope, signal);
    await turns.addStep(id, newStep({ kind: "model", answer: last, denied: [] }));
    await turns.finish(id, { state: "done", at: 2, steps: [], outgoing: [] });
  }

  /** Compacts as while idle. Undefined: the host died meanwhile. */
  async compact(signal = new AbortController().signal): Promise<CompactionOutcome | undefined> {
    const session = await this.session();
    const last = await this.#life.shown.lastStep(session);
    const turn = last && (await this.#store.turns.get(last.turn));
    if (!turn) return { kind: "nothing" };
    const scope = await this.#scopeOf(turn);
    const shown = await this.#life.shown.of(scope);
    try {
      return await this.#life.compactor.compact(scope, shown, { why: "idle", signal });
    } catch (error) {
      if ((error as Error).message !== "crash") throw error;
      this.restart();
      return undefined;
    }
  }

  /** Faults in the cover of the log: each entry must be covered once or shown. */
  async faults(): Promise<string[]> {
    const session = await this.session();
    const log = await this.#store.turns.history(session.id, session.conversation, 0);
    const cover = await this.#store.summaries.cover(session.id, session.conversation, session.windowStart);
    const faults: string[] = [];
    let next = 1;
    for (const { fromEntry, toEntry, fromStep, toStep } of cover) {
      if (fromEntry !== next) faults.push(`entry ${next} is followed by a summary from ${fromEntry}`);
      if (log[fromEntry - 1]?.seq !== fromStep || log[toEntry - 1]?.seq !== toStep)
        faults.push(`entries ${fromEntry} to ${toEntry} are not steps ${fromStep} to ${toStep}`);
      next = toEntry + 1;
    }
    const raw = log.filter(({ seq }) => seq >= session.windowStart);
    if (raw.length !== log.length - (next - 1)) faults.push(`${raw.length} of ${log.length} raw behind ${next - 1}`);
    if (log.length > 0 && raw.length === 0) faults.push("nothing is raw");
    return faults;
  }
}

function newStep(body: StepBody) {
  return { body, tokens: estimateStepTokens(body), at: 1 };
}

function answer(text: string): ModelAnswer {
  const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1 };
  return { text, toolCalls: [], stop: "end", usage, model: "local/scripted" };
}

function summaryAs(behaviour: Behaviour, all: string): ModelAnswer {
  const codes = [...new Set(all.match(/\b\d{4,}\b/g) ?? [])].slice(-12);
  if (behaviour === "empty") return answer("  ");
  if (behaviour === "too long") return answer(all.repeat(2));
  if (behaviour === "lies") return answer("Nothing of importance was said.");
  if (behaviour === "calls tools")
    return {
      ...answer(""),
      toolCalls: [{ id: "x", name: "shell", input: { command: "rm -rf /" } }],
      stop: "tool-calls",
    };
  return answer(`Facts and identifiers: ${codes.join(" ")}`);
}

const behaviours = fc.constantFrom<Behaviour>("good", "empty", "too long", "lies", "calls tools", "fails");
const dies = fc.option(fc.constantFrom("before" as const, "after" as const), { nil: undefined, freq: 4 });
const actions = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant("say" as const),
        text: fc.tuple(fc.integer({ min: 1_000, max: 9_999 }), fc.nat({ max: 700 })),
        outputs: fc.array(fc.nat({ max: 1_500 }), { maxLength: 3 }),
        behaviour: behaviours,
        dies,
      }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("compact" as const), behaviour: behaviours, dies }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("restart" as const, "interrupt" as const) }) },
  ),
  { minLength: 4, maxLength: 24 },
);

test("whatever happens, each entry is shown or covered once, in order, and only a compaction changes what a prompt begins with", async () => {
  await using home = await openTestStore();
  let compacted = 0;
  let evicted = 0;
  await fc.assert(
    fc.asyncProperty(actions, async (all) => {
      const conversation = await Conversation.open(home.store);
      let before: Call = { messages: [], isCompaction: false, changes: 0 };
      for (const action of all) {
        if (action.kind === "say" || action.kind === "compact") {
          conversation.behaviour = action.behaviour;
          conversation.dies = action.dies;
        }
        if (action.kind === "say") {
          const [code, words] = action.text;
          await conversation.say(
            `code ${code} ${"word ".repeat(words)}`,
            action.outputs.map((chars) => "y".repeat(chars)),
          );
        } else if (action.kind === "compact") await conversation.compact();
        else if (action.kind === "restart") conversation.restart();
        else {
          conversation.behaviour = "hangs";
          const abort = new AbortController();
          const compacting = conversation.compact(abort.signal).catch(() => undefined);
          abort.abort(new Error("somebody waits"));
          await compacting;
        }
        expect(await conversation.faults()).toEqual([]);
        for (const call of conversation.calls.splice(0)) {
          const [old, now] = [before.messages, call.messages];
          const isExtended = old.every((message, index) => now[index] === message);
          // What is asked for a summary may be the older part alone, with shorter outputs, where the whole has no room.
          const isSame = (message: string, index: number): boolean =>
            old[index] === message || message.startsWith('{"role":"tool"');
          const isPart = call.isCompaction && now.slice(0, -1).every(isSame);
          expect(isExtended || isPart || call.changes > before.changes).toBe(true);
          if (!call.isCompaction) before = call;
        }
      }
      compacted += conversation.events.filter((type) => type === "context.compacted").length;
      evicted += conversation.events.filter((type) => type === "context.evicted").length;
    }),
    { numRuns: 40 },
  );
  expect(compacted).toBeGreaterThan(10);
  expect(evicted).toBeGreaterThan(10);
});

test("a prompt that the model's server finds too long is made shorter within the turn, and what goes is summed up", async () => {
  await using home = await openTestStore();
  const conversation = await Conversation.open(home.store);
  for (let code = 4_000; code < 4_020; code += 1) await conversation.say(`code ${code} ${"word ".repeat(60)}`, []);
  conversation.takesChars = 7_000;

  await conversation.say("and now?", ["y".repeat(1_500)]);

  expect(await conversation.faults()).toEqual([]);
  expect(conversation.events).toEqual(["context.compacting", "context.compacted"]);
  const last = conversation.calls.at(-1)?.messages.join("") ?? "";
  expect(last).toContain("Facts and identifiers:");
  expect(last).toContain("4019");
});

test("a server that refuses whatever it is sent is asked a bounded number of times", async () => {
  await using home = await openTestStore();
  const conversation = await Conversation.open(home.store);
  conversation.takesChars = 0;

  await expect(conversation.say("hello", [])).rejects.toMatchObject({ code: "context_too_large" });
});
