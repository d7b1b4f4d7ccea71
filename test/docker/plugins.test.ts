import { execFile } from "node:child_process";
import { once } from "node:events";
import { chmod, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, expect, test } from "vitest";

import type { ConnectionHost, Connector } from "../../src/channels/channel.ts";
import type { ChannelPorts } from "../../src/channels/define-channel.ts";
import type { OutgoingMessage } from "../../src/domain/chats/message.ts";
import { openProvider } from "../../src/models/catalog.ts";
import type { Plugins } from "../../src/plugins/plugins.ts";
import { type HostTool, toHostToolOutput } from "../../src/tools/define-tool.ts";
import { onLoopback } from "../support/egress-rig.ts";
import type { McpRig } from "../support/mcp-rig.ts";
import { examplePlugins, writePlugin } from "../support/plugins.ts";
import { type PottedPlugins, pottedPlugins } from "../support/potted-plugins.ts";
import { testAuthority, tlsServer } from "../support/tls-authority.ts";
import { testTool } from "crabpot/contracts";

/*
 * Plugins in their containers: one that keeps the contract, and one that breaks it in every way. One home, one rig.
 */

/** A channel whose chat answers what it is told. */
const echoing = `import { defineChannel, z } from "crabpot/plugin";
export default defineChannel({
  name: "echo", config: z.strictObject({}), traits: {},
  open: async () => ({
    name: "echo", idempotent: true,
    connect: async (host) => ({
      ended: new Promise(() => undefined),
      send: async ({ chat, text, seq }) => {
        const sender = { id: "echo", name: "Echo" };
        await host.accept({ channel: "echo", chat, id: String(seq), sender, text: "you said " + text, mention: true });
      },
      [Symbol.asyncDispose]: async () => undefined,
    }),
    [Symbol.asyncDispose]: async () => undefined,
  }),
});
`;
const ofChannel = { crabpot: { kind: "channel" } };

function outgoing(text: string): OutgoingMessage {
  const facts = { seq: 7, channel: "echo", chat: "den", kind: "reply", text, attempts: 0, createdAt: 0 };
  return facts as unknown as OutgoingMessage;
}

const stack = new AsyncDisposableStack();
let potted: PottedPlugins;
let rig: McpRig;
let plugins: Plugins;
let loopback: number;
let named: string;
const visitors: string[] = [];

beforeAll(async () => {
  const authority = await testAuthority();
  const api = stack.use(await tlsServer(authority, "named.test", (_request, response) => void response.end("fine")));
  named = `named.test:${api.port}`;
  const server = createServer((socket) => {
    visitors.push("a visitor");
    socket.destroy();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  stack.defer(() => void server.close());
  loopback = (server.address() as AddressInfo).port;
  const code = await readFile(join(examplePlugins, "hostile", "index.js"), "utf8");
  const facts = { crabpot: { kind: "tool", hosts: [named] } };
  potted = stack.use(
    await pottedPlugins(async (home) => {
      const hostile = await writePlugin(join(home, "..", "sources"), "hostile", { "index.js": code }, facts);
      const echo = await writePlugin(join(home, "..", "sources"), "echo", { "index.js": echoing }, ofChannel);
      return [hostile, echo, join(examplePlugins, "weather"), join(examplePlugins, "parrot")];
    }, onLoopback),
  );
  rig = potted.rig;
  plugins = await potted.open();
});

afterAll(() => stack.disposeAsync());

function toolOf(name: string): HostTool {
  return plugins.tools.find((tool) => tool.name === name) as HostTool;
}

async function harm(deed: string): Promise<string> {
  const settings = { home: rig.home, hostPid: process.pid, loopback, named };
  plugins.configure({ isolation: "container", hostile: { memoryMb: 128, settings, risk: {} } });
  const place = { group: "main", turn: "t1", signal: new AbortController().signal } as Parameters<HostTool["run"]>[1];
  return toHostToolOutput(await toolOf("do_harm").run({ deed }, place)).output.text;
}

async function priority(): Promise<string> {
  return (await promisify(execFile)("ps", ["-o", "ni=", "-p", String(process.pid)])).stdout.trim();
}

testTool("a tool of a plugin in its container", async () => ({
  tool: toolOf("get_weather"),
  good: { town: "Rome" },
  bad: { town: "rome" },
}));

test("a plugin reaches the host that it has named and nothing else, of the machine, the host or the network", async () => {
  const before = await priority();
  const { open, variables } = JSON.parse(await harm("try all")) as { open: string[]; variables: string[] };

  expect(open).toEqual(["a host that it has named"]);
  // Certificates where this machine has its own proxy.
  const ofNetwork = /_proxy$|_CA_BUNDLE$|_CERTS?$|_CAINFO$|_FILE$/i;
  expect(variables.filter((name) => !ofNetwork.test(name))).toEqual(["HOME", "HOSTNAME", "LANG", "PATH", "PWD", "TZ"]);
  expect(visitors).toEqual([]);
  expect(await priority()).toBe(before);
  expect((await readdir(rig.home)).filter((name) => name === "left" || name === "mine.sock")).toEqual([]);
  const judged = rig.events.filter(({ type }) => type === "egress.judged");
  expect(judged.map(({ data }) => data)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ verdict: "allowed", plugin: "hostile", rule: named }),
      expect.objectContaining({
        verdict: "refused",
        plugin: "hostile",
        destination: { host: "other.test", port: 443 },
      }),
    ]),
  );
});

test("a provider and a channel of plugins do their work in their containers", async () => {
  const provider = await openProvider("polly", { kind: "parrot" }, { definitions: plugins.providers });
  const heard: { chat: string; text: string }[] = [];
  const host = {
    accept: async ({ chat, text }: { chat: string; text: string }) => {
      heard.push({ chat, text });
      return { outcome: "stored" as const };
    },
    heard: () => undefined,
    delivered: () => undefined,
    degraded: () => undefined,
  } as unknown as ConnectionHost;
  const ports = { assistantName: "crab", instance: "0".repeat(16), chats: () => [] } as unknown as ChannelPorts;
  const connector = (await plugins.channels[0]?.open({}, ports)) as Connector;
  const { signal } = new AbortController();

  const { ok } = await provider.check(signal);
  await using connection = await connector.connect(host, signal);
  await connection.send(outgoing("ahoy"), signal);

  expect(ok).toBe(true);
  await expect.poll(() => heard).toEqual([{ chat: "den", text: "you said ahoy" }]);
  await provider[Symbol.asyncDispose]();
});

test("it has its own user, its folder read-only, no network, and its own limit", async () => {
  await harm("wait");
  const running = rig.servers.list().find(({ server }) => server === "hostile");
  const found = (await rig.engine.inspect(running?.container ?? "")) as {
    Config: { User: string; Labels: object };
    HostConfig: { NetworkMode: string; Memory: number; ReadonlyRootfs: boolean; CapDrop: string[] };
    Mounts: { Destination: string; Source: string; RW: boolean }[];
  };

  expect(running).toMatchObject({ kind: "plugin", group: undefined });
  expect(found.Config.User).toBe(`${running?.user}:${running?.user}`);
  expect(found.Config.Labels).toMatchObject({ "crabpot.plugin": "hostile" });
  expect(found.HostConfig).toMatchObject({ NetworkMode: "none", Memory: 128 * 2 ** 20, ReadonlyRootfs: true });
  const mounts = found.Mounts.map(({ Destination, RW }) => `${Destination} ${RW ? "writable" : "read-only"}`);
  expect(new Set(mounts)).toEqual(new Set(["/egress read-only", "/opt/mcp read-only"]));
  expect(rig.servers.list().map(({ user }) => user)).not.toContain(process.getuid?.());
});

/** Code without Node's permissions: the walls alone. */
const walls = `
import json, os, socket
def outcome(action):
    try:
        action()
        return "open"
    except OSError as error:
        return "refused"
def reach(family, where):
    with socket.socket(family) as one:
        one.settimeout(2)
        one.connect(where)
print(json.dumps({
    "folder": outcome(lambda: open("/opt/mcp/x", "w")),
    "program": outcome(lambda: open("/opt/crabpot/plugin.mjs", "a")),
    "signal": outcome(lambda: os.kill(HOST, 0)),
    "priority": outcome(lambda: os.setpriority(os.PRIO_PROCESS, HOST, 19)),
    "home": outcome(lambda: os.listdir("HOME")),
    "control": outcome(lambda: reach(socket.AF_UNIX, "HOME/control.sock")),
    "engine": outcome(lambda: reach(socket.AF_UNIX, "/var/run/docker.sock")),
    "loopback": outcome(lambda: reach(socket.AF_INET, ("127.0.0.1", LOOPBACK))),
    "data": outcome(lambda: open("/data/x", "w")),
    "root": outcome(lambda: os.setuid(0)),
}), flush=True)
input()`;

test("the container holds what Node's permissions would let through", async () => {
  const code = walls
    .replaceAll("HOST", String(process.pid))
    .replaceAll("HOME", rig.home)
    .replace("LOOPBACK", String(loopback));
  await using streams = await rig.servers.open(
    {
      server: { kind: "plugin", name: "bare", env: {}, memoryMb: 128 },
      program: async () => ({
        command: ["python3", "-c", code],
        args: [],
        folder: join(rig.home, "plugins", "weather"),
      }),
    },
    undefined,
    AbortSignal.timeout(500_000),
  );
  const [line] = (await once(streams.output, "data")) as [Buffer];

  const outcomes = JSON.parse(line.toString("utf8")) as Record<string, string>;
  expect(Object.values(outcomes).filter((outcome) => outcome !== "refused")).toEqual([]);
  expect(Object.keys(outcomes)).toHaveLength(10);
});

test.for([
  ["send what is no message", "it sent what is no message"],
  ["take all memory", /out of memory|killed|exit code/],
  ["flood", "more than 2000 messages in a second"],
] as const)("one that breaks the rules is ended alone, and the next call has a new one: %s", async ([deed, why]) => {
  await expect(harm(deed)).rejects.toThrow(why);

  expect(await harm("wait")).toBe("well");
});

test("what it prints is no message, and it speaks for nothing but what it was asked", async () => {
  expect(await harm("print what is no message")).toBe("printed");
  expect(await harm("speak for another channel")).toBe("sent");
  expect(rig.events.filter(({ type }) => type === "message.received")).toEqual([]);

  await harm("answer twice").catch(() => undefined);
  expect(await harm("wait")).toBe("well");
});

test("where there is no engine it is not started and says so, and it starts when there is one", async () => {
  let isBack = false;
  const away = await potted.open({
    pots: (...wanted) =>
      isBack ? rig.servers.open(...wanted) : Promise.reject(new Error("the engine does not answer")),
  });
  const tool = away.tools.find(({ name }) => name === "get_weather") as HostTool;
  const place = { group: "main", turn: "t1", signal: new AbortController().signal } as Parameters<HostTool["run"]>[1];
  const stateOf = () => away.list().find(({ name }) => name === "weather");

  await expect(tool.run({ town: "Rome" }, place)).rejects.toThrow("the engine does not answer");
  expect(stateOf()).toMatchObject({ state: "waits", reason: "it is not started: the engine does not answer" });
  expect(potted.news).toContain("weather: the engine does not answer");

  isBack = true;
  expect(toHostToolOutput(await tool.run({ town: "Rome" }, place)).output.text).toContain("sun in Rome");
  expect(stateOf()).toMatchObject({ state: "ok" });
});

test("one whose files were changed is not started", async () => {
  const file = join(rig.home, "plugins", "weather", "index.js");
  await chmod(file, 0o644);
  await writeFile(file, `${await readFile(file, "utf8")}\n`);
  const again = await potted.open();
  await again.verify();

  expect(again.list().find(({ name }) => name === "weather")).toMatchObject({ state: "refused" });
});
