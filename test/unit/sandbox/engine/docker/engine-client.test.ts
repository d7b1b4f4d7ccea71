import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo, Socket } from "node:net";

import { promisify } from "node:util";
import { afterEach, expect, test, vi } from "vitest";

import { DockerEngine } from "../../../../../src/sandbox/engine/docker/docker-engine.ts";
import { engineThat as serverThat } from "../../../../support/pretend-engine.ts";

afterEach(() => vi.unstubAllEnvs());

async function engineThat(answers: RequestListener): Promise<{ engine: DockerEngine } & AsyncDisposable> {
  const server = await serverThat(answers);
  return { ...server, engine: new DockerEngine({ url: server.url, namedBy: undefined }) };
}

/** An engine that answers every request with this error. */
async function refusingEngine(status: number, message: string): Promise<{ engine: DockerEngine } & AsyncDisposable> {
  return engineThat((_request, response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ message }));
  });
}

test.each([
  "grpc: the client connection is closing: context canceled",
  'error while dialing: dial unix /run/containerd/containerd.sock: connect: connection refused: "unavailable"',
  "error reading from server: EOF",
])("an engine that lost its other half on its way down or up counts as away, not as refusing: %s", async (words) => {
  await using refusing = await refusingEngine(500, words);

  await expect(refusing.engine.start("f00")).rejects.toMatchObject({ code: "engine_unavailable" });
});

test("an engine that cannot make a container and says why has refused", async () => {
  await using refusing = await refusingEngine(500, "OCI runtime create failed: no such file or directory");

  await expect(refusing.engine.create("one", {})).rejects.toMatchObject({
    code: "engine_refused",
    message: expect.stringContaining("OCI runtime create failed"),
  });
});

test("an answer that breaks off in its middle is no answer", async () => {
  await using broken = await engineThat((_request, response) => {
    response.writeHead(200, { "content-length": 1_000 }).write('[{"Id":', () => response.destroy());
  });

  await expect(broken.engine.list({})).rejects.toMatchObject({ code: "engine_unavailable" });
});

test.each(["<html>hello</html>", ""])("what is no answer of an engine is none: %o", async (body) => {
  await using other = await engineThat((_request, response) => response.writeHead(201).end(body));

  await expect(other.engine.create("one", {})).rejects.toMatchObject({ code: "engine_unavailable" });
});

test.each(["http", "ftp"])("a redirect is a refusal, and is not followed, by %s either", async (protocol) => {
  let followed = 0;
  const elsewhere = createServer((_request, response) => {
    followed += 1;
    response.end("{}");
  });
  await using stack = new AsyncDisposableStack();
  await once(elsewhere.listen(0, "127.0.0.1"), "listening");
  stack.defer(promisify(elsewhere.close.bind(elsewhere)));
  const location = `${protocol}://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
  await using moved = await engineThat((_request, response) => response.writeHead(301, { location }).end("moved"));

  await expect(moved.engine.inspect("f00")).rejects.toMatchObject({
    code: "engine_refused",
    message: expect.stringContaining("moved"),
  });
  expect(followed).toBe(0);
});

test("an engine's words are told without what the client adds", async () => {
  await using refusing = await refusingEngine(409, "Conflict - the name is taken");

  await expect(refusing.engine.create("one", {})).rejects.toMatchObject({
    message: "The container engine refused to create container one: Conflict - the name is taken",
  });
});

test("the environment of the process does not lead a request to another engine", async () => {
  vi.stubEnv("DOCKER_HOST", "unix:///nowhere/engine.sock");
  vi.stubEnv("DOCKER_CERT_PATH", "/nowhere");
  vi.stubEnv("DOCKER_CLIENT_TIMEOUT", "1");
  await using other = await engineThat((_request, response) => response.end("[]"));

  expect(await other.engine.list({})).toEqual([]);
});

/** An engine that never answers, and the connections of those that have asked. */
async function silentEngine(): Promise<{ engine: DockerEngine; asked: readonly Socket[] } & AsyncDisposable> {
  const asked: Socket[] = [];
  return { ...(await engineThat(({ socket }) => void asked.push(socket))), asked };
}

test("a request that is given up takes its connection along", async () => {
  await using silent = await silentEngine();
  const stop = new AbortController();
  const reason = new Error("no longer of interest");

  const exit = silent.engine.waitForExit("f00", stop.signal);
  await expect.poll(() => silent.asked.length).toBe(1);
  stop.abort(reason);

  await expect(exit).rejects.toBe(reason);
  await expect.poll(() => silent.asked.every(({ destroyed }) => destroyed)).toBe(true);
});

test("a request that is begun and ended at once is refused, and leaves no connection", async () => {
  await using silent = await silentEngine();

  const asked = silent.engine.list({});
  await Promise.all([
    silent.engine[Symbol.asyncDispose](),
    expect(asked).rejects.toMatchObject({ code: "engine_unavailable" }),
  ]);

  await expect.poll(() => silent.asked.every(({ destroyed }) => destroyed)).toBe(true);
});
