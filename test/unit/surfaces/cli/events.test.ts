import { createInterface } from "node:readline";

import { expect, test } from "vitest";

import { startControlledHost } from "../../../support/crabpot-control.ts";
import { crabpot, jsonLines, newHome, startCrabpot } from "../../../support/crabpot.ts";

type Host = Awaited<ReturnType<typeof startControlledHost>>;

async function leave({ publish }: Host, count: number, group?: string): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await publish({ type: "chat.left", group, actor: "host", data: { channel: "http", chat: "evil\u001b[2J" } });
  }
}

test("the newest events are shown, or all that are kept, of a group or a kind, also without a host", async () => {
  await using place = await newHome();
  const host = await startControlledHost(place.home);
  await leave(host, 30, "family");
  await host.publish({ type: "intake.resumed", actor: "host", data: { seconds: 3 } });

  const newest = await crabpot(place, "events", "tail");
  const everything = await crabpot(place, "events", "tail", "--after", "0", "--json");
  const ofGroup = await crabpot(place, "events", "tail", "--json", "--after", "28", "--group", "family");
  const ofKind = await crabpot(place, "events", "tail", "--json", "--type", "intake.*");
  await host[Symbol.asyncDispose]();
  const offline = await crabpot(place, "events", "tail", "--json", "--type", "intake.resumed");

  expect(newest.stdout.trimEnd().split("\n")).toHaveLength(20);
  expect(newest.stdout).toMatch(
    /^30 \d{4}-\d\d-\d\d \S+ chat\.left family host \{"channel":"http","chat":"evil\\u001b\[2J"\}$/m,
  );
  // Looking leaves no event.
  expect(jsonLines(everything.stdout).map(({ seq }) => seq)).toEqual(
    Array.from({ length: 31 }, (_, index) => index + 1),
  );
  expect(jsonLines(ofGroup.stdout).map(({ seq }) => seq)).toEqual([29, 30]);
  const resumed = { seq: 31, type: "intake.resumed", group: null, actor: "host", data: { seconds: 3 } };
  expect(jsonLines(ofKind.stdout)).toEqual([
    { ...resumed, time: expect.stringMatching(/Z$/), session: null, turn: null },
  ]);
  expect(jsonLines(offline.stdout)).toEqual(jsonLines(ofKind.stdout));
});

test("a follower sees what is kept, then each event as it comes, and nothing twice", async () => {
  await using place = await newHome();
  await using host = await startControlledHost(place.home);
  await leave(host, 3);
  const follower = startCrabpot(place, "events", "tail", "--after", "1", "--type", "chat.left", "--follow", "--json");
  const seen: unknown[] = [];

  for await (const line of createInterface({ input: follower.stdout })) {
    seen.push((JSON.parse(line) as { seq: number }).seq);
    if (seen.length === 2) await leave(host, 2);
    if (seen.length === 4) follower.kill("SIGTERM");
  }

  expect(seen).toEqual([2, 3, 4, 5]);
});

test("a type that does not exist is refused with the one that was meant; without a host nothing can be followed", async () => {
  await using place = await newHome();
  const host = await startControlledHost(place.home);

  const wrong = await crabpot(place, "events", "tail", "--type", "turn.end");
  const wrongPrefix = await crabpot(place, "events", "tail", "--type", "tern.*");
  await host[Symbol.asyncDispose]();
  const offline = await crabpot(place, "events", "tail", "--type", "turn.strated");
  const following = await crabpot(place, "events", "tail", "--follow");

  expect([wrong.code, wrong.stderr]).toEqual([
    2,
    expect.stringMatching(/no event type "turn\.end".*\n.*"turn\.ended"/),
  ]);
  expect(wrongPrefix.stderr).toContain('did you mean "turn.*"?');
  expect(offline.stderr).toContain('did you mean "turn.started"?');
  expect([following.code, following.stderr]).toEqual([4, expect.stringContaining("No host is running.")]);
});
