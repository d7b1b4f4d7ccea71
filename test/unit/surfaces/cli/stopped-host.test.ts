import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { addFailedTurn, startControlledHost } from "../../../support/crabpot-control.ts";
import { crabpot, newHome } from "../../../support/crabpot.ts";
import { addGroup } from "../../../../src/operations/groups/operations.ts";

const readings = [
  ["turns", "list"],
  ["turns", "list", "--group", "main", "--state", "failed"],
  ["turns", "show", "t1"],
  ["outbox", "list"],
  ["groups", "list"],
  ["chats", "--all"],
  ["sessions", "list"],
  ["work", "list"],
  ["usage", "--by", "model"],
] as const;

/** Output of each command with `--json`. */
const readAll = (home: string) => Promise.all(readings.map((words) => crabpot({ home }, ...words, "--json")));

/** Prices by the test's host. */
const priced = { "offline/scripted": { inputUsd: 0, outputUsd: 1_000 } };

const told = "crabpot: no host is running: reading the store as it was left\n";

test("what a host that has ended left can be looked at as before, and nothing in the home changes", async () => {
  await using place = await newHome();
  await writeFile(join(place.home, "config.yaml"), JSON.stringify({ models: { capabilities: priced } }), {
    mode: 0o600,
  });
  const host = await startControlledHost(place.home);
  await addFailedTurn(host.store, "t1");
  await host.client.call(addGroup, { name: "family", channel: "terminal", chat: "f" });
  await host.store.chats.seen({ channel: "terminal", chat: "main", group: "main", at: 5 });
  const running = await readAll(place.home);
  await host[Symbol.asyncDispose]();
  const files = await readdir(place.home);

  const stopped = await readAll(place.home);
  const missing = await crabpot(place, "turns", "show", "t9");
  const retried = await crabpot(place, "turns", "retry", "t1");

  expect(running.map(({ code, stderr }) => [code, stderr])).toEqual(readings.map(() => [0, ""]));
  expect(stopped).toEqual(running.map((result) => ({ ...result, stderr: told })));
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no turn "t9"') });
  expect(retried.code).toBe(4);
  expect(await readdir(place.home)).toEqual(files);
});

test("a configuration that cannot be used hides no turn", async () => {
  await using place = await newHome();
  const host = await startControlledHost(place.home);
  await addFailedTurn(host.store, "t1");
  await host.store.groups.claimFolder({ name: "main", channel: "terminal", chat: "main" });
  await host[Symbol.asyncDispose]();
  await writeFile(join(place.home, "config.yaml"), 'gateway: { token: "${NOT_HERE}" }', { mode: 0o600 });

  const turns = await crabpot(place, "turns", "list", "--group", "main");
  const groups = await crabpot(place, "groups", "list");

  expect(turns).toMatchObject({ code: 0, stdout: expect.stringContaining("t1") });
  expect(groups).toMatchObject({ code: 2, stderr: expect.stringContaining("`crabpot config check`") });
});
