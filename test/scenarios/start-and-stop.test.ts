import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { expect, test } from "vitest";

import { lockHome } from "../../src/stores/catalog.ts";
import { TestHost } from "../support/host.ts";
import { startModelHost } from "../support/model-host.ts";

/** Remains of a failed start: lock, listeners and containers. */
async function leftBy(host: TestHost): Promise<{ socket: boolean; containers: string[]; locked: boolean }> {
  const lock = await lockHome(host.home, { pid: process.pid, startedAt: 1 }).catch(() => undefined);
  await lock?.[Symbol.asyncDispose]();
  const socket = existsSync(join(host.home, "control.sock"));
  return { socket, containers: await host.containers(), locked: lock === undefined };
}

test("a port that is busy ends the start before anything else has begun, names it, and leaves nothing behind", async () => {
  const server = createServer();
  await using stack = new AsyncDisposableStack();
  stack.defer(() => void server.close());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const gateway = { port, token: "test-token-0123456789" };
  await using host = await TestHost.prepare({ config: { gateway } });

  const child = host.launch();
  const [code] = (await once(child, "exit")) as [number];

  expect(code).not.toBe(0);
  expect(host.output.join("")).toContain(`127.0.0.1:${port}`);
  expect(await leftBy(host)).toEqual({ socket: false, containers: [], locked: false });
  server.close();
  await once(server, "close");
  await host.boot();
  expect((await host.ask("family", "@crab hello")).kind).toBe("reply");
});

test("a host that is told to stop while it starts ends in good order", async () => {
  await using host = await TestHost.prepare();

  const child = host.launch();
  await expect.poll(() => host.output.join(""), { interval: 1 }).toContain("the gateway listens");
  child.kill("SIGTERM");
  const [code] = (await once(child, "exit")) as [number];

  expect(code).toBe(0);
  expect(await leftBy(host)).toEqual({ socket: false, containers: [], locked: false });
  expect((await host.cli("audit", "verify")).code).toBe(0);
});

test("a host that stops takes nothing more in, lets the running turn end, and then closes everything", async () => {
  const begun = Promise.withResolvers<void>();
  const mayAnswer = Promise.withResolvers<void>();
  await using running = await startModelHost(async () => {
    begun.resolve();
    await mayAnswer.promise;
    return { text: "done" };
  });
  const { host } = running;
  const first = await host.say("family", "@crab one");
  await begun.promise;

  const ending = host.end("SIGTERM");
  await expect.poll(async () => (await host.say("family", "@crab two")).status).toBe(503);
  mayAnswer.resolve();

  expect(await ending).toBe(0);
  expect(await leftBy(host)).toEqual({ socket: false, containers: [], locked: false });
  await host.boot();
  const replies = await host.replies();
  expect(replies.map(({ inReplyTo, text }) => [inReplyTo, text])).toEqual([[[first.id], "done"]]);
});
