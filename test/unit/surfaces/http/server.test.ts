import { once } from "node:events";
import { Agent, request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { text as readText } from "node:stream/consumers";

import pino from "pino";
import { Registry } from "prom-client";
import { describe, expect, test } from "vitest";

import { addGauges, createMetrics } from "../../../../src/records/metrics/metrics.ts";
import { createGatewayServer, type GatewayOptions, type GatewayServer } from "../../../../src/surfaces/http/server.ts";
import { AppError } from "../../../../src/lib/app-error.ts";
import { systemClock } from "../../../../src/lib/time/clock.ts";

const token = "s3cret-of-the-tests";
const bearer = { authorization: `Bearer ${token}` };

interface Rig extends AsyncDisposable {
  readonly server: GatewayServer;
  readonly url: string;
  readonly port: number;
  readonly log: string[];
}

async function openRig(more: Partial<GatewayOptions> = {}): Promise<Rig> {
  const log: string[] = [];
  const server = createGatewayServer({
    host: "127.0.0.1",
    port: 0,
    token,
    ready: async () => ({ ready: true, reasons: [] }),
    metrics: new Registry(),
    clock: systemClock,
    logger: pino({}, { write: (line) => log.push(line) }),
    ...more,
  });
  server.routes.get("/fails", async () => {
    throw new Error("SECRET inside");
  });
  server.routes.get("/refuses", async () => {
    throw new AppError("conflict", "It is there already.");
  });
  server.routes.post("/json", (request) => ({ got: request.body }));
  const { host, port } = await server.listen();
  return {
    server,
    url: `http://${host}:${port}`,
    port,
    log,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function get(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: string; headers: Headers }> {
  const response = await fetch(url, { headers });
  return { status: response.status, body: await response.text(), headers: response.headers };
}

describe("without the right token", () => {
  test("all doors are closed and look the same", async () => {
    await using rig = await openRig();

    const answers = await Promise.all([
      get(`${rig.url}/refuses`),
      get(`${rig.url}/refuses`, { authorization: "Bearer wrong" }),
      get(`${rig.url}/refuses`, { authorization: `Bearer ${token}x` }),
      get(`${rig.url}/refuses`, { authorization: `Bearer ${token.slice(0, -1)}` }),
      get(`${rig.url}/refuses`, { authorization: `Basic ${btoa(`x:${token}`)}` }),
      get(`${rig.url}/refuses`, { authorization: token }),
      get(`${rig.url}/refuses?token=${token}`),
      get(`${rig.url}/no/such/door`),
      get(`${rig.url}/metrics`),
      get(`${rig.url}/health/live/../../metrics`),
      get(`${rig.url}//health/live`),
    ]);

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
    expect(JSON.parse(answers[0].body)).toMatchObject({ error: { code: "unauthorized" } });
    expect(rig.log.join("")).not.toContain(token);
  });

  test("a body is not even read", async () => {
    await using rig = await openRig();

    const response = await fetch(`${rig.url}/json`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{broken",
    });

    expect(response.status).toBe(401);
  });

  test("the state of health can be seen", async () => {
    let reasons = ["engine-unavailable"];
    await using rig = await openRig({ ready: async () => ({ ready: reasons.length === 0, reasons }) });

    const live = await get(`${rig.url}/health/live`);
    const notReady = await get(`${rig.url}/health/ready`);
    reasons = [];
    const ready = await get(`${rig.url}/health/ready`);

    expect([live.status, notReady.status, ready.status]).toEqual([200, 503, 200]);
    expect(JSON.parse(notReady.body)).toEqual({ ready: false, reasons: ["engine-unavailable"] });
  });

  test("guessing is stopped for the rest of the minute, also for the right token, then it starts afresh", async () => {
    let nowMs = 0;
    await using rig = await openRig({ clock: { now: () => 0, monotonic: () => nowMs } });
    const guess = (with_: string): Promise<{ status: number; headers: Headers }> =>
      get(`${rig.url}/refuses`, { authorization: `Bearer ${with_}`, connection: "close" });

    const guesses: number[] = [];
    for (let index = 0; index < 22; index += 1) guesses.push((await guess(`guess-${index}`)).status);
    nowMs = 30_000;
    const blocked = await guess(token);
    nowMs = 60_001;
    const again = await guess(token);

    expect(guesses).toEqual([...Array.from({ length: 20 }, () => 401), 429, 429]);
    expect([blocked.status, blocked.headers.get("retry-after")]).toEqual([429, "30"]);
    expect(again.status).toBe(409);
  });

  test("a stranger cannot lock out somebody who is logged in", async () => {
    await using rig = await openRig();
    using agent = disposable(new Agent({ keepAlive: true, maxSockets: 1 }));
    const ask = (): Promise<number> => askThrough(agent, `${rig.url}/refuses`);
    await ask();

    for (let index = 0; index < 25; index += 1) await get(`${rig.url}/refuses`, { connection: "close" });

    expect(await ask()).toBe(409);
  });
});

describe("with the right token", () => {
  test("errors say what is wrong and nothing of the inside", async () => {
    await using rig = await openRig();

    const refused = await get(`${rig.url}/refuses`, bearer);
    const failed = await get(`${rig.url}/fails`, bearer);
    const missing = await get(`${rig.url}/no/such/door`, bearer);
    const crooked = await get(`${rig.url}/%zz`, bearer);

    expect([refused.status, failed.status, missing.status, crooked.status]).toEqual([409, 500, 404, 400]);
    expect(JSON.parse(refused.body)).toEqual({ error: { code: "conflict", message: "It is there already." } });
    expect(failed.body).not.toMatch(/SECRET|stack/);
    expect(JSON.parse(missing.body)).toMatchObject({ error: { code: "not_found" } });
    expect(rig.log.join("")).toContain("SECRET inside");
    expect(rig.log.join("")).not.toContain(token);
  });

  test("the metrics can be read", async () => {
    const metrics = new Registry();
    const count = createMetrics(metrics);
    addGauges(metrics, {
      intakeOpen: () => true,
      containersHot: () => 3,
      groupsWaiting: () => 2,
      approvals: async () => 2,
      jobs: () => 1,
      outbox: async () => ({ queued: 4, sending: 0, accepted: 5, delivered: 0, uncertain: 0, dead: 1 }),
      channels: () => [{ name: "http", state: () => ({ state: "conflict", since: 0 }) }],
    });
    await using rig = await openRig({ metrics });
    count.messageIn("http", { outcome: "stored", duplicate: false });
    count.messageIn("http", { outcome: "stored", duplicate: true });
    count.turnEnded("done", 1_500);
    count.delivery("http", "expired");
    count.modelCall("offline/scripted", "answered", 20);
    count.modelUsage("offline/scripted", { inputTokens: 10, cachedInputTokens: 4, outputTokens: 2 });

    const { status, body, headers } = await get(`${rig.url}/metrics`, bearer);

    expect([status, headers.get("content-type")]).toEqual([200, expect.stringContaining("text/plain")]);
    for (const line of [
      `crabpot_messages_in_total{channel="http",outcome="stored"} 1`,
      `crabpot_messages_in_total{channel="http",outcome="duplicate"} 1`,
      `crabpot_turn_duration_seconds_sum{state="done"} 1.5`,
      `crabpot_model_call_duration_seconds_count{model="offline/scripted",outcome="answered"} 1`,
      `crabpot_model_tokens_total{model="offline/scripted",kind="cached-input"} 4`,
      `crabpot_containers_hot 3`,
      `crabpot_queue_groups_waiting 2`,
      "crabpot_approvals_open 2",
      `crabpot_outbox_messages{state="queued"} 4`,
      `crabpot_outbox_messages{state="dead"} 1`,
      `crabpot_deliveries_total{channel="http",outcome="expired"} 1`,
      `crabpot_channel_state{channel="http",state="conflict"} 1`,
      `crabpot_channel_state{channel="http",state="open"} 0`,
    ]) {
      expect(body.split("\n")).toContain(line);
    }
  });
});

test("every answer forbids what browsers might do with it and says nothing about the server", async () => {
  await using rig = await openRig();

  const answers = await Promise.all([
    get(`${rig.url}/health/live`),
    get(`${rig.url}/refuses`, bearer),
    get(`${rig.url}/fails`, bearer),
    get(`${rig.url}/refuses`),
    get(`${rig.url}/nothing`, bearer),
    get(`${rig.url}/%zz`),
  ]);

  for (const { headers } of answers) {
    expect(Object.fromEntries(headers)).toMatchObject({
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
    });
    expect([headers.get("server"), headers.get("x-powered-by")]).toEqual([null, null]);
  }
});

test("what is no HTTP, or has endless headers, is told so and hung up on", async () => {
  await using rig = await openRig();

  const garbage = await exchange(rig.port, "EHLO there\r\n\r\n");
  const endless = await exchange(rig.port, `GET / HTTP/1.1\r\nx: ${"y".repeat(20_000)}\r\n\r\n`);

  expect([garbage, endless]).toEqual([
    expect.stringMatching(/^HTTP\/1.1 400/),
    expect.stringMatching(/^HTTP\/1.1 400/),
  ]);
  expect(garbage).toContain(`{"error":{"code":"bad_input"`);
});

test("a client that dawdles over its headers is hung up on", async () => {
  await using rig = await openRig();

  const answer = await exchange(rig.port, "GET /health/live HTTP/1.1\r\nhost: x\r\n");

  expect(answer).toMatch(/^HTTP\/1.1 408/);
});

test(
  "its end does not wait for idle connections or for requests that are never finished",
  { timeout: 25_000 },
  async () => {
    const rig = await openRig();
    using agent = disposable(new Agent({ keepAlive: true }));
    await askThrough(agent, `${rig.url}/refuses`);
    const half = connect(rig.port, "127.0.0.1");
    const ended = readText(half).catch(() => "");
    half.write(
      `POST /json HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`,
    );
    await once(half, "connect");
    await get(`${rig.url}/health/live`);

    await rig.server[Symbol.asyncDispose]();

    await ended;
  },
);

test("an address that is in use is an error that says which and what to do", async () => {
  await using rig = await openRig();

  await expect(openRig({ port: rig.port })).rejects.toMatchObject({
    code: "bad_input",
    message: expect.stringContaining(`127.0.0.1:${rig.port}`),
    fix: expect.stringContaining("gateway.port"),
  });
});

function disposable(agent: Agent): Agent & Disposable {
  return Object.assign(agent, { [Symbol.dispose]: () => agent.destroy() });
}

function askThrough(agent: Agent, url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const asking = httpRequest(url, { agent, headers: bearer }, (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode ?? 0));
    });
    asking.once("error", reject);
    asking.end();
  });
}

/** Sends raw bytes and reads until the other side hangs up. */
async function exchange(port: number, bytes: string): Promise<string> {
  const socket: Socket = connect(port, "127.0.0.1");
  socket.write(bytes);
  return readText(socket);
}
