import { expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import { TestHost } from "../support/host.ts";

const quickly = { sessions: { freezeSeconds: 0.2 } };

async function stateOf(host: TestHost): Promise<unknown> {
  const [session] = jsonLines((await host.cli("sessions", "list", "--json")).stdout);
  return (session?.["container"] as { state: string } | undefined)?.state;
}

/** As the engine sees them. */
async function statusOf(host: TestHost): Promise<unknown[]> {
  await using engine = await host.openEngine();
  const found = await Promise.all((await host.containers()).map((id) => engine.inspect(id)));
  return found.map((inspection) => (inspection?.["State"] as { Status: string } | undefined)?.Status);
}

test("an idle container is frozen, and goes on with the next message", async () => {
  await using host = await TestHost.start({ config: quickly });
  await host.ask("family", "@crab hello");
  const before = await host.containers();

  await expect.poll(() => stateOf(host)).toBe("frozen");
  // The host says so as soon as it has asked for it.
  await expect.poll(() => statusOf(host)).toEqual(["paused"]);
  const reply = await host.ask("family", "@crab run echo awake");

  expect(reply.text).toContain("awake");
  expect(await host.containers()).toEqual(before);
});

test("a frozen container outlives kill -9 of the host, and is ended with the host in good order", async () => {
  await using host = await TestHost.start({ config: quickly });
  await host.ask("family", "@crab hello");
  const before = await host.containers();
  await expect.poll(() => statusOf(host)).toEqual(["paused"]);

  await host.end("SIGKILL");
  await host.boot();
  const adopted = await stateOf(host);
  const reply = await host.ask("family", "@crab run echo awake");
  const after = await host.containers();
  await expect.poll(() => statusOf(host)).toEqual(["paused"]);
  await host.end("SIGTERM");

  expect(adopted).toBe("frozen");
  expect(reply.text).toContain("awake");
  expect(after).toEqual(before);
  expect(await host.containers()).toEqual([]);
});

test("while the machine has less memory than the reserve, a group that speaks takes the place of an idle one", async () => {
  const config = { sessions: { memoryReserveMb: 1e9 } };
  await using host = await TestHost.start({ groups: { one: {}, other: {} }, config });

  await host.ask("one", "@crab hello");
  await host.ask("other", "@crab hello");

  expect(await host.containers()).toHaveLength(1);
});
