import * as fc from "fast-check";
import { expect, test } from "vitest";

import type { WorkSlot } from "../../../../src/domain/work/work-slot.ts";
import { WorkSlots } from "../../../../src/work/queue/work-slots.ts";

/** People wait for it. */
const people = (): boolean => true;
const never = new AbortController().signal;

/** WorkSlots on a clock that the test sets. */
function openPlaces(count: number) {
  const clock = { ms: 0 };
  const places = new WorkSlots({ count, now: () => clock.ms });
  const got: string[] = [];
  const enter = async (name: string, isAwaited?: () => boolean): Promise<WorkSlot> => {
    const place = await places.enter(name, isAwaited);
    got.push(name);
    return place;
  };
  return { clock, got, enter };
}

/**
 * One place: `away` has left it and `held` has it, would leave, and may not. `ended` takes the names of who is told to
 * end.
 */
async function openFullPlaces() {
  const { got, enter } = openPlaces(1);
  const away = await enter("away");
  away.leave();
  const held = await enter("held");
  held.leave();
  return { got, enter, away, held, ended: [] as string[] };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("work that waits for its tools leaves its place to the next in line, and gets one again in its turn", async () => {
  const { got, enter } = openPlaces(1);
  const sleeper = await enter("sleeper");
  const next = enter("next");
  await settled();
  expect(got).toEqual(["sleeper"]);

  sleeper.leave();
  const worker = await next;
  const back = sleeper.claim(never).then(() => got.push("sleeper again"));
  await settled();
  expect(got).toEqual(["sleeper", "next"]);
  worker[Symbol.dispose]();
  await back;

  expect(got).toEqual(["sleeper", "next", "sleeper again"]);
});

test("as many may be away as there are places; one more leaves as soon as somebody is back", async () => {
  const { got, enter } = openPlaces(1);
  const first = await enter("first");
  first.leave();
  const second = await enter("second");
  const third = enter("third");
  second.leave();
  await settled();
  expect(got).toEqual(["first", "second"]);

  first[Symbol.dispose]();
  await third;

  expect(got).toEqual(["first", "second", "third"]);
});

test("when nobody can leave anymore, the work that is overdue longest has to end, one for each that waits", async () => {
  const { got, enter, away, held, ended } = await openFullPlaces();
  away.overdue(() => ended.push("away"));
  held.overdue(() => ended.push("held"));
  expect(ended).toEqual([]);

  const third = enter("third");
  await settled();
  expect(ended).toEqual(["away"]);
  away[Symbol.dispose]();
  await third;

  expect(got).toEqual(["away", "held", "third"]);
  expect(ended).toEqual(["away"]);
});

test("nobody else has to end while the one that was told to is still on its way out", async () => {
  const { got, enter, away, held, ended } = await openFullPlaces();
  const overdue = away.overdue(() => ended.push("away"));
  const third = enter("third");
  await settled();

  overdue[Symbol.dispose]();
  const back = away.claim(AbortSignal.abort(new Error("stopped")));
  await expect(back).rejects.toThrow("stopped");
  held.overdue(() => ended.push("held"));
  expect(ended).toEqual(["away"]);
  away[Symbol.dispose]();
  await third;

  expect(got).toEqual(["away", "held", "third"]);
  expect(ended).toEqual(["away"]);
});

test("work that is not overdue anymore when others come is left alone", async () => {
  const { enter } = openPlaces(1);
  const place = await enter("first");
  const ended: string[] = [];
  const overdue = place.overdue(() => ended.push("first"));

  overdue[Symbol.dispose]();
  const second = enter("second");
  await settled();
  expect(ended).toEqual([]);
  place[Symbol.dispose]();
  await second;
});

test("work that never waits for tools lets others go first after its slice of the time", async () => {
  const { clock, got, enter } = openPlaces(1);
  const busy = await enter("busy");
  const next = enter("next");
  await busy.claim(never);
  await settled();
  expect(got).toEqual(["busy"]);

  clock.ms = 10_000;
  const back = busy.claim(never).then(() => got.push("busy again"));
  const worker = await next;
  worker[Symbol.dispose]();
  await back;

  expect(got).toEqual(["busy", "next", "busy again"]);
});

test("a claim that is given up leaves nothing in the line", async () => {
  const { got, enter } = openPlaces(1);
  const first = await enter("first");
  first.leave();
  const second = await enter("second");
  const over = new AbortController();
  const claim = first.claim(over.signal);

  over.abort(new Error("stopped"));
  await expect(claim).rejects.toThrow("stopped");
  first[Symbol.dispose]();
  const third = enter("third");
  second[Symbol.dispose]();
  await third;

  expect(got).toEqual(["first", "second", "third"]);
});

test("whatever work does, never more hold a place than there are, nor twice as many are under way, and all get through", async () => {
  const step = fc.constantFrom("work", "leave", "claim");
  const work = fc.array(step, { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(work, { maxLength: 12 }), async (count, works) => {
      const places = new WorkSlots({ count, now: () => 0 });
      const held = new Set<number>();
      const under = new Set<number>();
      let most = { held: 0, under: 0 };
      const note = (): void => {
        most = { held: Math.max(most.held, held.size), under: Math.max(most.under, under.size) };
      };
      const run = async (id: number, steps: readonly string[]): Promise<void> => {
        using place = await places.enter(`group ${id % 3}`);
        held.add(id);
        under.add(id);
        note();
        for (const what of steps) {
          await settled();
          if (what === "leave") {
            place.leave();
            held.delete(id);
          } else if (what === "claim") {
            await place.claim(never);
            held.add(id);
            note();
          }
        }
        held.delete(id);
        under.delete(id);
      };

      await Promise.all(works.map((steps, id) => run(id, steps)));

      expect(most.held).toBeLessThanOrEqual(count);
      expect(most.under).toBeLessThanOrEqual(2 * count);
    }),
  );
});

test("a group with many sessions gets no more places than one with a single one while others wait", async () => {
  const { got, enter } = openPlaces(2);
  const [first, second] = [await enter("busy", people), await enter("busy", people)];
  const third = enter("busy", people);
  const late = enter("late", people);
  const other = enter("other", people);

  first[Symbol.dispose]();
  (await late)[Symbol.dispose]();
  await other;
  expect(got).toEqual(["busy", "busy", "late", "other"]);
  second[Symbol.dispose]();
  await third;

  expect(got).toEqual(["busy", "busy", "late", "other", "busy"]);
});

test("whoever asks, a free place goes to a group that holds no more than any other one that waits", async () => {
  const action = fc.oneof(
    fc.record({ enter: fc.constantFrom("a", "b", "c") }),
    fc.record({ end: fc.integer({ min: 0, max: 3 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.array(action, { maxLength: 40 }), async (count, actions) => {
      const places = new WorkSlots({ count, now: () => 0 });
      const held: { group: string; place: WorkSlot }[] = [];
      const waiting: string[] = [];
      const heldBy = (group: string): number => held.filter((one) => one.group === group).length;
      const given: string[] = [];
      const enter = async (group: string): Promise<void> => {
        waiting.push(group);
        const place = await places.enter(group);
        given.push(group);
        held.push({ group, place });
      };

      for (const next of actions) {
        const [ended] = "end" in next ? held.splice(next.end, 1) : [];
        if ("enter" in next) void enter(next.enter);
        const fewest = Math.min(...waiting.map(heldBy));
        ended?.place[Symbol.dispose]();
        await settled();
        for (const group of given.splice(0)) {
          expect(heldBy(group) - 1).toBe(fewest);
          waiting.splice(waiting.indexOf(group), 1);
        }
      }
    }),
  );
});

test("2,000 pieces of work of 100 groups at once: no group waits for all of another's, whatever the number of places", async () => {
  for (const count of [1, 2, 16]) {
    const places = new WorkSlots({ count, now: () => 0 });
    const began: string[] = [];
    const groups = Array.from({ length: 100 }, (_, index) => `group-${index}`);
    // All of a group come before all of the next one, as a schedule may hand them out.
    const working = groups.flatMap((group) =>
      Array.from({ length: 20 }, async () => {
        const place = await places.enter(group);
        began.push(group);
        await Promise.resolve();
        place[Symbol.dispose]();
      }),
    );
    await Promise.all(working);

    expect(began).toHaveLength(2_000);
    const lastFirst = Math.max(...groups.map((group) => began.indexOf(group)));
    expect(lastFirst, `the last group to begin, with ${count} places`).toBeLessThan(100 + count);
  }
});

test("work that people wait for goes before all other work, also when they begin to wait while it stands in line", async () => {
  const { got, enter } = openPlaces(1);
  const first = await enter("busy");
  let speaks = false;
  const line = [enter("task"), enter("busy", () => speaks), enter("other task")];
  speaks = true;
  first[Symbol.dispose]();
  await settled();
  expect(got).toEqual(["busy", "busy"]);
  for (const place of [line[1], line[0]]) (await place)?.[Symbol.dispose]();
  (await line[2])?.[Symbol.dispose]();
  expect(got).toEqual(["busy", "busy", "task", "other task"]);
});

test("however much people ask for, each ninth place goes to other work", async () => {
  const { got, enter } = openPlaces(1);
  const first = await enter("first");
  const line = Array.from({ length: 20 }, (_, index) => enter(`ann ${index}`, () => true));
  line.push(enter("task"), enter("task"));
  const ended = line.map(async (place) => (await place)[Symbol.dispose]());
  first[Symbol.dispose]();
  await Promise.all(ended);
  const tasks = got.flatMap((name, index) => (name === "task" ? [index] : []));
  expect(tasks).toEqual([9, 18]);
});

test("the first groups that get a place are not given a second one before the others have one", async () => {
  const { got, enter } = openPlaces(2);
  const running = await Promise.all([enter("a", people), enter("b", people)]);
  const line = ["a", "b", "c", "d"].map((name) => enter(name, people));
  const ended = line.map(async (place) => (await place)[Symbol.dispose]());
  for (const place of running) place[Symbol.dispose]();
  await Promise.all(ended);
  expect(got).toEqual(["a", "b", "c", "d", "a", "b"]);
});

/** Fifty tasks of one group are due at once, each of which runs a command that takes its time. */
async function openCrowdedPlaces(count: number) {
  const { got, enter } = openPlaces(count);
  const tasks = Array.from({ length: 50 }, async () => {
    const place = await enter("tasks");
    place.leave();
    return place;
  });
  await settled();
  return { got, enter, tasks };
}

test("fifty tasks of one group that all wait for their commands leave room for whoever is spoken to", async () => {
  const { got, enter } = await openCrowdedPlaces(16);
  const begun = got.length;

  const places = await Promise.all(Array.from({ length: 4 }, (_, index) => enter(`chat ${index}`, people)));
  for (const place of places) place.leave();
  await Promise.all(Array.from({ length: 4 }, (_, index) => enter(`other chat ${index}`, people)));

  expect(begun).toBe(16);
  expect(got.slice(begun)).toHaveLength(8);
});

test("the work of another group that nobody waits for is not behind fifty tasks of one", async () => {
  const { got, enter } = await openCrowdedPlaces(16);
  const begun = got.length;

  await Promise.all([enter("other tasks"), enter("heartbeat")]);

  expect(got.slice(begun)).toEqual(["other tasks", "heartbeat"]);
});

test("tasks that wait for others of their group alone make nobody else end", async () => {
  const { enter } = openPlaces(4);
  const ended: string[] = [];
  const chat = await enter("chat", people);
  chat.overdue(() => ended.push("chat"));

  await enter("tasks");
  void enter("tasks");
  await settled();

  expect(ended).toEqual([]);
});

test("however much other work there is, one piece of work that people wait for begins at once", async () => {
  const own = fc.record({ group: fc.constantFrom("a", "b", "c", "d", "e"), leaves: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 2, max: 20 }), fc.array(own, { maxLength: 60 }), async (count, works) => {
      const { got, enter } = openPlaces(count);
      for (const { group, leaves } of works) void enter(group).then((place) => (leaves ? place.leave() : undefined));
      await settled();

      void enter("chat", people);
      await settled();

      expect(got.at(-1)).toBe("chat");
    }),
  );
});
