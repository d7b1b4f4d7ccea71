import { expect, test } from "vitest";

import { ReplySignal } from "../../../src/channels/http/arrivals.ts";

const never = new AbortController().signal;

test("what arrives between looking and waiting is not missed", async () => {
  const arrivals = new ReplySignal();
  const { count } = arrivals;
  arrivals.announce();

  await arrivals.after(count, never);

  expect(arrivals.count).toBe(count + 1);
});

test("all who wait are woken by an arrival", async () => {
  const arrivals = new ReplySignal();
  const waiting = [1, 2, 3].map(() => arrivals.after(0, never));

  arrivals.announce();

  await Promise.all(waiting);
});

test("nobody waits after the end, or when there is no time left", async () => {
  const arrivals = new ReplySignal();
  const hurry = new AbortController();
  const waiting = [arrivals.after(0, hurry.signal)];

  hurry.abort();
  await Promise.all(waiting);
  await arrivals.after(0, AbortSignal.abort());
  const last = arrivals.after(0, never);
  arrivals.close();

  await last;
  await arrivals.after(0, never);
});
