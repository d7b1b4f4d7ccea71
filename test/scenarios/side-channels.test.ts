import { expect, test } from "vitest";

import { groupOf, startWithoutContainers } from "../support/model-host.ts";

/** Numbers of the messages in what the model was shown of a group last. */
function idsShown(requests: readonly { readonly messages: readonly { readonly text: string }[] }[]): number[] {
  const shown = requests.at(-1)?.messages.map(({ text }) => text) ?? [];
  return [...shown.join("\n").matchAll(/<message id="(\d+)"/g)].map(([, id]) => Number(id));
}

test("a group's messages carry numbers that do not count what other groups say", async () => {
  await using running = await startWithoutContainers(() => ({ text: "noted" }), { groups: { spy: {}, busy: {} } });
  const { host, model } = running;
  const ofSpy = () => model.requests.filter((request) => groupOf(request) === "spy");

  await host.ask("spy", "@crab one");
  await host.ask("spy", "@crab two");
  const quiet = idsShown(ofSpy());
  for (let count = 0; count < 20; count += 1) await host.say("busy", `chatter ${count}`);
  await host.ask("spy", "@crab three");
  const after = idsShown(ofSpy());

  // One number for each message, the same ones again, and no count of anything.
  expect(new Set(after).size).toBe(3);
  expect(after.slice(0, 2)).toEqual(quiet);
  const steps = after.slice(1).map((id, index) => id - (after[index] ?? 0));
  expect(steps.every((step) => Math.abs(step) > 1_000)).toBe(true);
});
