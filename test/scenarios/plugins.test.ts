import { appendFile, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import { freePort } from "../support/free-port.ts";
import { TestHost } from "../support/host.ts";
import { eventsOf } from "../support/host-records.ts";
import { LinePeer } from "../support/line-peer.ts";
import { examplePlugins } from "../support/plugins.ts";

const password = "pieces-of-eight-4711";

/** A host with a channel, a provider and a tool of plugins. It is not started. */
async function prepare(): Promise<{ readonly host: TestHost; readonly port: number }> {
  const port = await freePort();
  const host = await TestHost.prepare({
    groups: { den: { channel: "line", chat: "den", trigger: "always" } },
    config: {
      channels: { http: {}, line: { port } },
      models: { routes: { main: ["polly/grey"] }, providers: { polly: { kind: "parrot", password } } },
      // The channel listens on this machine, which none in a container can.
      plugins: { isolation: "process", weather: { settings: { unit: "F" } } },
    },
  });
  for (const name of ["line", "parrot", "weather"]) {
    const { code, stderr } = await host.cli("plugins", "add", join(examplePlugins, name), "--yes");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  }
  return { host, port };
}

/** Pid of a plugin's process in this home. */
async function pidOf(home: string, plugin: string): Promise<number> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    const line = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (line.includes("plugin-main") && line.includes(join(home, "plugins", plugin))) return Number(pid);
  }
  throw new Error(`no process of ${plugin} runs`);
}

async function peerAt(port: number): Promise<LinePeer> {
  let peer: LinePeer | undefined;
  await expect.poll(async () => (peer = await LinePeer.open(port).catch((): undefined => undefined))).toBeDefined();
  return peer as LinePeer;
}

test("a message comes in by a plugin's channel, its provider calls a plugin's tool, and the answer goes out; one that dies comes back", async () => {
  const { host, port } = await prepare();
  await using running = host;
  await running.boot();
  using peer = await peerAt(port);

  peer.say({ id: "1", chat: "den", sender: "Long John", text: "weather of Rome" });
  await expect.poll(() => peer.heard("den")).toHaveLength(1);

  expect(peer.heard("den")[0]).toContain("sun in Rome, 20 °F");
  const log = await readFile(join(host.home, "logs", "host.log"), "utf8");
  expect(log).toContain("a parrot that knows");
  expect(log).toContain("plugins run without walls");
  expect(log).not.toContain(password);

  process.kill(await pidOf(host.home, "crabpot-line"), "SIGKILL");
  await expect
    .poll(() => eventsOf(host, "plugin.ended"))
    .toMatchObject([{ data: { plugin: "crabpot-line", failures: 1 } }]);
  using again = await peerAt(port);
  again.say({ id: "2", chat: "den", sender: "Long John", text: "still there?" });
  await expect.poll(() => again.heard("den")).toHaveLength(1);
  expect(again.heard("den")[0]).toContain("still there?");
});

test("a plugin whose files have changed is refused and told about, and the others work", async () => {
  const { host, port } = await prepare();
  await using running = host;
  await appendFile(join(host.home, "plugins/weather/index.js"), "\n");
  await running.boot();
  using peer = await peerAt(port);

  peer.say({ id: "1", chat: "den", sender: "Long John", text: "weather of Rome" });
  await expect.poll(() => peer.heard("den")).toHaveLength(1);
  const [status] = jsonLines((await host.cli("status", "--json")).stdout);
  const records = jsonLines((await host.cli("audit", "tail", "--json")).stdout);

  expect(peer.heard("den")[0]).not.toContain("sun");
  expect(status).toMatchObject({
    idlePlugins: [{ name: "weather", reason: "its files are not those that were installed" }],
  });
  expect(records.filter(({ type }) => type === "plugin-refused")).toHaveLength(1);
});
