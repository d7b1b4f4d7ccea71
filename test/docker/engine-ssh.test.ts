import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openEngine } from "../../src/sandbox/engine/catalog.ts";
import type { ContainerEngine } from "../../src/sandbox/engine/engine.ts";
import { containerEngineContract } from "../contracts/container-engine.ts";
import { crabpot, jsonLines, newHome } from "../support/crabpot.ts";
import { engineWithAgentImage, testContainer } from "../support/engine.ts";
import { startModelHost, runsInOrder } from "../support/model-host.ts";
import { startSshServer, type SshServer } from "../support/ssh-server.ts";

const forever = ["sleep", "1000"];
const patience = (): AbortSignal => AbortSignal.timeout(60_000);

function open(server: SshServer, variables = {}): Promise<ContainerEngine> {
  return openEngine({ env: { ...server.env, DOCKER_HOST: server.url, ...variables }, homeFolder: "/nowhere" });
}

describe("an engine over ssh that shares its connection", () => {
  const stack = new AsyncDisposableStack();
  let server: SshServer;
  beforeAll(async () => {
    server = stack.use(await startSshServer({ multiplexed: true }));
  });
  afterAll(() => stack.disposeAsync());

  containerEngineContract(async () => ({ engine: await open(server), image: (await engineWithAgentImage()).image }));
});

describe("an engine over ssh", () => {
  const stack = new AsyncDisposableStack();
  let server: SshServer;
  beforeAll(async () => {
    server = stack.use(await startSshServer());
  });
  afterAll(() => stack.disposeAsync());

  test("a whole turn works", async () => {
    const variables = { ...server.env, DOCKER_HOST: server.url };
    await using running = await startModelHost(runsInOrder("echo $((40 + 2)) from the sandbox"), { variables });

    const reply = await running.host.ask("family", "@crab count");

    expect(reply.text).toContain("42 from the sandbox");
  });

  test("doctor says where it is", async () => {
    await using home = await newHome({ "config.yaml": "channels: { terminal: {} }\n" });

    const { stdout } = await crabpot(
      { ...home, variables: { ...server.env, DOCKER_HOST: server.url } },
      "doctor",
      "--json",
    );

    const engine = jsonLines(stdout).find(({ check }) => check === "engine");
    expect(engine).toMatchObject({ ok: true, detail: expect.stringContaining(server.url) });
  });

  test("ssh learns nothing of the environment but what it needs", async () => {
    await using engine = await open(server, { ANTHROPIC_API_KEY: "canary-5b1d", SSH_AUTH_SOCK: "/nowhere/agent" });
    await engine.facts();

    expect(await server.environments()).toContain("SSH_AUTH_SOCK=/nowhere/agent");
    expect(await server.environments()).not.toContain("canary-5b1d");
  });
});

test("a host whose key is not known is not spoken to", async () => {
  await using server = await startSshServer();
  await server.forgetHostKey();

  await expect(open(server)).rejects.toMatchObject({
    code: "engine_unavailable",
    message: `The container engine named by DOCKER_HOST does not answer: ${server.url} (Host key verification failed.).`,
  });
});

test("a refused key is told in ssh's words", async () => {
  await using server = await startSshServer();
  await server.forgetClientKey();

  await expect(open(server)).rejects.toMatchObject({
    code: "engine_unavailable",
    message: expect.stringContaining("Permission denied (publickey)"),
  });
});

test("a machine without Docker's command line is told in its words", async () => {
  await using server = await startSshServer({ path: "/nowhere" });

  await expect(open(server)).rejects.toMatchObject({
    code: "engine_unavailable",
    message: expect.stringMatching(/docker: (command )?not found/),
  });
});

test("without the program ssh, that is what is told", async () => {
  const env = { DOCKER_HOST: "ssh://user@127.0.0.1", PATH: "/nowhere" };

  await expect(openEngine({ env, homeFolder: "/nowhere" })).rejects.toMatchObject({
    code: "engine_unavailable",
    message: expect.stringContaining("ssh cannot be started: there is no such program in PATH"),
  });
});

test("an ssh that dies in the middle of a request fails that one, and the next request gets another", async () => {
  await using server = await startSshServer();
  const { engine: direct, image } = await engineWithAgentImage();
  await using engine = await open(server);
  await using container = await testContainer(direct, image, forever);
  await engine.start(container.id);
  const known = await server.clients();
  const exit = engine.waitForExit(container.id, patience());
  await expect.poll(async () => (await server.clients()).length).toBeGreaterThan(known.length);

  const pids = await server.clients();
  const killAll = async (): Promise<void> => {
    for (const pid of pids) process.kill(pid, "SIGKILL");
  };
  await Promise.all([
    killAll(),
    expect(exit).rejects.toMatchObject({ code: "engine_unavailable", message: expect.stringContaining(server.url) }),
  ]);

  expect(await engine.inspect(container.id)).toMatchObject({ State: { Running: true } });
});

test("a request that is given up takes its ssh along", async () => {
  await using server = await startSshServer();
  const { engine: direct, image } = await engineWithAgentImage();
  await using engine = await open(server);
  await using container = await testContainer(direct, image, forever);
  await engine.start(container.id);
  await expect.poll(() => server.clients()).toEqual([]);
  const stop = new AbortController();

  const exit = engine.waitForExit(container.id, stop.signal);
  await expect.poll(async () => (await server.clients()).length).toBe(1);
  const reason = new Error("no longer of interest");
  stop.abort(reason);

  await expect(exit).rejects.toBe(reason);
  await expect.poll(() => server.clients()).toEqual([]);
});

test("what a container prints goes on to come when the request that opened a shared connection has ended", async () => {
  await using server = await startSshServer({ multiplexed: true });
  const { engine: direct, image } = await engineWithAgentImage();
  await using engine = await open(server);
  await using container = await testContainer(direct, image, [
    "sh",
    "-c",
    "trap 'echo end; exit' TERM; sleep 1000 & wait",
  ]);
  const stop = new AbortController();
  const exit = engine.waitForExit(container.id, stop.signal);
  await expect.poll(async () => [(await server.clients()).length, server.isShared()]).toEqual([1, true]);
  const output = text(await engine.attach(container.id));
  await engine.start(container.id);

  stop.abort();
  await expect(exit).rejects.toThrow("aborted");
  await direct.stop(container.id, 20);

  expect(await output).toBe("end\n");
});

test("a request that is begun and ended at once leaves no ssh", async () => {
  await using server = await startSshServer();
  const engine = await open(server);
  const known = await server.environments();

  const asked = engine.list({});
  await Promise.all([
    engine[Symbol.asyncDispose](),
    expect(asked).rejects.toMatchObject({ code: "engine_unavailable" }),
  ]);

  expect([await server.clients(), await server.environments()]).toEqual([[], known]);
});

test("after disposal no ssh is left, though a container was attached to", async () => {
  await using server = await startSshServer();
  const { engine: direct, image } = await engineWithAgentImage();
  const engine = await open(server);
  await using container = await testContainer(direct, image, forever);
  const output = text(await engine.attach(container.id));
  await engine.start(container.id);
  expect(await server.clients()).not.toEqual([]);

  await engine[Symbol.asyncDispose]();

  expect(await server.clients()).toEqual([]);
  expect(await output).toBe("");
});
