import { expect, test } from "vitest";

import { ProviderSet } from "../../../../src/models/routes/provider-set.ts";
import type { Provider } from "../../../../src/models/provider.ts";

const settingsOf = (key: string) => ({ providers: { gpt: { kind: "openai", key } }, timeoutSeconds: 1 });

/** Providers that note when they are opened and ended. */
function openSet() {
  const events: string[] = [];
  const open = (name: string, settings: object): Provider => {
    const id = `${name} ${JSON.stringify(settings)}`;
    events.push(`opened ${id}`);
    return {
      name,
      complete: () => Promise.reject(new Error("not asked")),
      check: () => Promise.resolve({ ok: true, detail: "" }),
      [Symbol.asyncDispose]: () => {
        events.push(`ended ${id}`);
        return Promise.resolve();
      },
    };
  };
  const onFault = (error: unknown): void => void events.push(String(error));
  return { events, set: new ProviderSet({ open, onFault, now: () => 0 }, settingsOf("one")) };
}

const one = 'gpt {"kind":"openai","key":"one"}';
const two = 'gpt {"kind":"openai","key":"two"}';

test("a provider whose settings change ends when the last turn that has it lets go of it, and once", async () => {
  const { set, events } = openSet();
  const [turn, other] = [set.hold(), set.hold()];
  const before = turn.byName.get("gpt");

  set.configure(settingsOf("two"));
  set.configure(settingsOf("two"));
  const later = set.hold();
  turn[Symbol.dispose]();
  turn[Symbol.dispose]();
  const stillOpen = [...events];
  other[Symbol.dispose]();

  expect(stillOpen).toEqual([`opened ${one}`, `opened ${two}`]);
  expect(events).toEqual([...stillOpen, `ended ${one}`]);
  expect(later.byName.get("gpt")).not.toBe(before);
  await set[Symbol.asyncDispose]();
  expect(events.filter((event) => event.startsWith("ended"))).toEqual([`ended ${one}`, `ended ${two}`]);
});

test("one that nobody has ends at once, and one that is gone from the configuration is gone for new turns", async () => {
  const { set, events } = openSet();

  set.configure({ ...settingsOf("one"), providers: {} });
  using held = set.hold();

  expect(events).toEqual([`opened ${one}`, `ended ${one}`]);
  expect(held.byName.size).toBe(0);
  await set[Symbol.asyncDispose]();
  expect(events).toHaveLength(2);
});
