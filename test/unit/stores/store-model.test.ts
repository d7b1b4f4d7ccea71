import * as fc from "fast-check";
import { expect, test } from "vitest";

import type { MessageState } from "../../../src/domain/chats/message.ts";
import type { TurnState } from "../../../src/domain/turns/turn.ts";
import {
  byMessage,
  draft,
  insertCommand,
  type Restartable,
  restartableStore,
  say,
  step,
  stopping,
  inChat,
} from "../../contracts/store-setup.ts";
import { openStoreAt } from "../../support/open-store-at.ts";
import { ofMember } from "../../support/lineages.ts";

const groups = ["family", "work"] as const;

interface ModelMessage {
  readonly seq: number;
  readonly key: string;
  readonly group: string;
  state: MessageState;
  turn: string | undefined;
}

/** Reference model of the store. */
class Model {
  readonly messages: ModelMessage[] = [];
  readonly turns = new Map<string, { group: string; state: TurnState; steps: number[] }>();
  readonly cursors = new Map<string, number>();
  replies = 0;
}

type Action = (home: Restartable, model: Model) => Promise<void>;

const group = fc.constantFrom(...groups);
const turnName = fc.integer({ min: 0, max: 4 }).map((index) => `t${index}`);
const picks = fc.record({
  messages: fc.array(fc.integer({ min: 1, max: 25 }), { maxLength: 6 }),
  cursor: fc.integer({ min: 0, max: 30 }),
  isSure: fc.integer({ min: 0, max: 5 }).map((chance) => chance > 0),
});

type Picks = { messages: number[]; cursor: number; isSure: boolean };

const action: fc.Arbitrary<Action> = fc.oneof(
  fc
    .record({
      id: fc.integer({ min: 0, max: 30 }).map(String),
      group,
      state: fc.constantFrom<MessageState>("waiting", "waiting", "context", "handled"),
    })
    .map(
      (message): Action =>
        (home, model) =>
          insertMessage(home, model, message),
    ),
  fc.tuple(turnName, group, picks).map(
    ([id, place, takes]): Action =>
      (home, model) =>
        beginTurn(home, model, { id, place, takes: pick(model, place, takes) }),
  ),
  fc.tuple(turnName, picks).map(
    ([id, takes]): Action =>
      (home, model) =>
        addStep(home, model, { id, takes: pick(model, model.turns.get(id)?.group ?? "", takes) }),
  ),
  fc.tuple(turnName, fc.constantFrom("done", "failed", "cancelled")).map(
    ([id, state]): Action =>
      (home, model) =>
        finishTurn(home, model, { id, state }),
  ),
  turnName.map(
    (id): Action =>
      (home, model) =>
        requeue(home, model, id),
  ),
  group.map(
    (place): Action =>
      (home, model) =>
        stop(home, model, place),
  ),
  group.map(
    (place): Action =>
      (home, model) =>
        giveUpOld(home, model, place),
  ),
  fc.constant<Action>(async (home) => {
    await home.restart();
  }),
);

async function insertMessage(
  { store }: Restartable,
  model: Model,
  { id, group: place, state }: { id: string; group: string; state: MessageState },
): Promise<void> {
  const { seq, duplicate } = await store.messages.insert(say(id), { group: place, state, at: 1 });
  const known = model.messages.find((message) => message.key === id);
  expect({ seq: known?.seq ?? seq, duplicate }).toEqual({ seq, duplicate: known !== undefined });
  if (!known) model.messages.push({ seq, key: id, group: place, state, turn: undefined });
}

async function beginTurn(
  { store }: Restartable,
  model: Model,
  { id, place, takes }: { id: string; place: string; takes: Picks },
): Promise<void> {
  const { id: session } = await store.sessions.open(`agent:terminal:${place}`, place);
  const turn = { id, session, group: place, conversation: 1, ...byMessage, at: 1 };
  const begun = store.turns.begin(turn, step("x", { ...takes, lineage: ofMember }));
  if (model.turns.has(id) || !wait(model, place, takes))
    return expect(begun).rejects.toMatchObject({ code: model.turns.has(id) ? "conflict" : "gone" });
  model.turns.set(id, { group: place, state: "running", steps: [(await begun).step.seq] });
  take(model, id, takes);
}

function refusalOf(state: string | undefined): string {
  if (state === undefined) return "not_found";
  return state === "running" ? "gone" : "conflict";
}

async function addStep(
  { store }: Restartable,
  model: Model,
  { id, takes }: { id: string; takes: Picks },
): Promise<void> {
  const turn = model.turns.get(id);
  const added = store.turns.addStep(id, step("y", { ...takes, lineage: ofMember }));
  if (turn?.state !== "running" || !wait(model, turn.group, takes)) {
    return expect(added).rejects.toMatchObject({ code: refusalOf(turn?.state) });
  }
  turn.steps.push((await added).seq);
  take(model, id, takes);
}

async function finishTurn(
  { store }: Restartable,
  model: Model,
  { id, state }: { id: string; state: "done" | "failed" | "cancelled" },
): Promise<void> {
  const turn = model.turns.get(id);
  if (!turn) return;
  const sent = await store.turns.finish(id, { state, at: 2, steps: [], outgoing: [draft("z", { turn: id })] });
  expect(sent?.length).toBe(turn.state === "running" ? 1 : undefined);
  if (turn.state !== "running") return;
  turn.state = state;
  model.replies += 1;
  for (const message of model.messages) if (message.turn === id) message.state = "answered";
}

async function requeue({ store }: Restartable, model: Model, id: string): Promise<void> {
  const affected = model.messages.filter(({ turn }) => turn === id && model.turns.get(id)?.state === "failed");
  expect(await store.messages.requeue(id)).toBe(affected.length);
  for (const message of affected) Object.assign(message, { state: "waiting", turn: undefined });
}

const stoppingWithNotice = { ...stopping, tell: () => ({ ...stopping.tell(), outgoing: [draft("stopped")] }) };

async function stop({ store }: Restartable, model: Model, place: string): Promise<void> {
  const key = `stop-${model.messages.length}`;
  const seq = await insertCommand(store, key, "stop", place);
  model.messages.push({ seq, key, group: place, state: "handled", turn: undefined });
  const waiting = model.messages.filter((message) => message.group === place && message.state === "waiting");
  const running = [...model.turns].filter(([, turn]) => turn.group === place && turn.state === "running");

  const ended = await store.commands.carryOut(seq, stoppingWithNotice);

  expect(ended?.waiting.map((message) => message.seq)).toEqual(waiting.map((message) => message.seq));
  expect(ended?.turns.map(({ turn }) => turn.id)).toEqual(running.map(([id]) => id));
  expect(await store.commands.carryOut(seq, stoppingWithNotice)).toBeUndefined();
  model.replies += 1;
  for (const message of waiting) message.state = "handled";
  for (const [id, turn] of running) {
    turn.state = "cancelled";
    turn.steps.push((await store.turns.steps(id)).at(-1)?.seq ?? 0);
    for (const message of model.messages) if (message.turn === id) message.state = "answered";
  }
}

/** Messages are of the time 1, steps of the time 50: nothing that runs is old. */
async function giveUpOld({ store }: Restartable, model: Model, place: string): Promise<void> {
  const waiting = model.messages.filter((message) => message.group === place && message.state === "waiting");

  const old = await store.commands.giveUpOld(inChat(place), { ...stopping, before: 50 });

  expect(old.turns).toEqual([]);
  expect(old.waiting.map(({ seq }) => seq)).toEqual(waiting.map(({ seq }) => seq));
  for (const message of waiting) message.state = "context";
}

/** Do all of these messages wait? */
function wait({ messages }: Model, place: string, takes: Picks): boolean {
  const waiting = messages.filter((message) => message.group === place && message.state === "waiting");
  return takes.messages.every((seq) => waiting.some((message) => message.seq === seq));
}

/** Picks an item, mostly among waiting ones. */
function pick(model: Model, place: string, picked: Picks): Picks {
  const isFit = (seq: number): boolean => !picked.isSure || wait(model, place, { ...picked, messages: [seq] });
  return { ...picked, messages: picked.messages.filter(isFit) };
}

function take(model: Model, turn: string, takes: Picks): void {
  const place = model.turns.get(turn)?.group ?? "";
  for (const message of model.messages) {
    const taken = takes.messages.includes(message.seq) && message.group === place && message.state === "waiting";
    if (taken) Object.assign(message, { state: "taken", turn });
  }
  model.cursors.set(place, Math.max(model.cursors.get(place) ?? 0, takes.cursor));
}

async function compare({ store }: Restartable, model: Model): Promise<void> {
  for (const place of groups) {
    const shown = model.messages.filter((message) => message.group === place && message.state !== "handled");
    const stored = await store.messages.after(inChat(place), 0, 100);
    expect(stored.map(({ seq, state, turn }) => ({ seq, state, turn }))).toEqual(
      shown.map(({ seq, state, turn }) => ({ seq, state, turn })),
    );
    expect(await store.messages.countAfter(inChat(place), 0)).toBe(shown.length);
    for (const { state, turn } of stored) {
      const turnState = turn === undefined ? undefined : (await store.turns.get(turn))?.state;
      const holds =
        turnState === undefined ? ["context", "waiting"] : turnState === "running" ? ["taken"] : ["answered"];
      expect(holds).toContain(state);
    }
  }
  for (const session of await store.sessions.list()) {
    expect(session.contextCursor).toBe(model.cursors.get(session.group) ?? 0);
  }
  for (const [id, { steps }] of model.turns) {
    expect((await store.turns.steps(id)).map(({ seq }) => seq)).toEqual(steps);
  }
  expect(await store.outbox.unsent(100)).toHaveLength(model.replies);
}

test("whatever happens in whatever order, no message, step or reply is lost, doubled or in two states", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 40 }), async (actions) => {
      await using home = await restartableStore(openStoreAt);
      const model = new Model();
      for (const act of actions) {
        await act(home, model);
        await compare(home, model);
      }
    }),
    { numRuns: 40 },
  );
});
