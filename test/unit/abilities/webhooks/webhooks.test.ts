import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";

import pino from "pino";
import { Registry } from "prom-client";
import { expect, test } from "vitest";

import type { IntakeState } from "../../../../src/channels/channel.ts";
import type { Webhook } from "../../../../src/domain/work/webhook.ts";
import type { NewEvent } from "../../../../src/domain/events/event.ts";
import { signatureOf } from "../../../../src/abilities/webhooks/signature.ts";
import { WebhookIntake } from "../../../../src/abilities/webhooks/webhook-intake.ts";
import { addWebhookRoutes, webhookRoute } from "../../../../src/surfaces/http/webhook-routes.ts";
import { createGatewayServer } from "../../../../src/surfaces/http/server.ts";
import { openTestStore } from "../../../support/open-test-store.ts";
import { someGroup } from "../../../support/some-group.ts";
import { VirtualTime } from "../../../support/virtual-time.ts";
import { ofMember } from "../../../support/lineages.ts";

const secret = "only-the-tests-know-it";
const minuteMs = 60_000;

interface Answer {
  readonly status: number;
  readonly body: { readonly id?: string; readonly duplicate?: boolean; readonly error?: { readonly message: string } };
  readonly text: string;
  readonly retryAfter: string | null;
}

/** A real gateway with webhooks before a real store; time passes when the test says so. */
async function openRig(more: { readonly hook?: Partial<Webhook>; readonly token?: string } = {}) {
  await using stack = new AsyncDisposableStack();
  const { store } = stack.use(await openTestStore());
  const time = new VirtualTime();
  const group = someGroup("family");
  const hooks: Record<string, Webhook> = {
    deploys: {
      name: "deploys",
      group: "family",
      secret,
      prompt: undefined,
      role: "guest",
      perMinute: 1_000,
      ...more.hook,
    },
  };
  const state = { intake: { open: true } as IntakeState, wakes: 0, groups: [group] };
  const events: NewEvent[] = [];
  const createIntake = () =>
    new WebhookIntake({
      hook: (name) => (Object.hasOwn(hooks, name) ? hooks[name] : undefined),
      groupNamed: (name) => state.groups.find((known) => known.name === name),
      intake: { state: () => state.intake, failed: () => undefined },
      store,
      workAdded: () => (state.wakes += 1),
      publish: async (event) => void events.push(event),
      clock: time.clock,
      forwardClock: time.clock,
      onFault: (error) => {
        throw error;
      },
    });
  let intake: WebhookIntake | undefined = createIntake();
  const log: string[] = [];
  const server = stack.use(
    createGatewayServer({
      host: "127.0.0.1",
      port: 0,
      token: more.token,
      signedRoutes: [webhookRoute],
      ready: async () => ({ ready: true, reasons: [] }),
      metrics: new Registry(),
      clock: time.clock,
      logger: pino({}, { write: (line) => log.push(line) }),
    }),
  );
  addWebhookRoutes(server.routes, () => intake);
  server.routes.get("/v1/approvals", () => "a secret of the house");
  const { port } = await server.listen();
  const url = `http://127.0.0.1:${port}`;
  const post = async (
    name: string,
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string>,
  ): Promise<Answer> => {
    const answer = await fetch(`${url}/v1/hooks/${name}`, { method: "POST", body, headers });
    const text = await answer.text();
    return {
      status: answer.status,
      text,
      body: JSON.parse(text) as Answer["body"],
      retryAfter: answer.headers.get("retry-after"),
    };
  };
  const owned = stack.move();
  return {
    url,
    store,
    time,
    hooks,
    state,
    events,
    log,
    post,
    /** A call as the program makes it that knows the secret. */
    call: (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
      post("deploys", body, { "x-crabpot-signature": signatureOf(secret, Buffer.from(body)), ...headers }),
    /** All that is kept in memory is lost. */
    restart: () => (intake = createIntake()),
    starting: () => (intake = undefined),
    work: () => store.work.list({ limit: 500 }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test("a signed call is work for the group's agent, with no more rights than a guest", async () => {
  await using rig = await openRig({ hook: { prompt: "Say what was deployed." } });

  const answer = await rig.call('{"app":"shop"}', { "x-crabpot-delivery": "d-1", "content-type": "application/json" });

  const [work] = await rig.work();
  expect(answer).toMatchObject({ status: 202, body: { id: work?.id, duplicate: false } });
  expect(work).toMatchObject({
    group: "family",
    cause: "webhook",
    dedupe: "hook:deploys:d-1",
    replyTo: { kind: "chat", channel: "fake", chat: "chat of family" },
    origin: "web",
    lineage: { role: "guest", origins: ["guest", "web"], people: [] },
    text: "Say what was deployed.",
    payload: '{\n  "app": "shop"\n}',
  });
  expect(rig.state.wakes).toBe(1);
  expect(rig.events).toMatchObject([
    {
      type: "webhook.received",
      group: "family",
      data: { hook: "deploys", delivery: "d-1", bytes: 14, duplicate: false },
    },
  ]);
});

test("whoever cannot sign gets one answer, also for a hook that there is not, and nothing is stored", async () => {
  await using rig = await openRig();
  const body = '{"x":1}';
  const right = signatureOf(secret, Buffer.from(body));
  const wrong = [
    undefined,
    "",
    "sha256=",
    right.slice("sha256=".length),
    right.replace("sha256", "sha1"),
    signatureOf("another secret", Buffer.from(body)),
    signatureOf(secret, Buffer.from(`${body} `)),
    `${right}, ${right}`,
    right.slice(0, -1),
    `${right}0`,
  ];

  const answers = await Promise.all([
    ...wrong.map((value) => rig.post("deploys", body, value === undefined ? {} : { "x-crabpot-signature": value })),
    rig.post("nothing", body, { "x-crabpot-signature": right }),
    rig.post("__proto__", body, { "x-crabpot-signature": right }),
    rig.post("deploys", body, { "x-crabpot-signature": "wrong", "x-hub-signature-256": right }),
  ]);

  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(await rig.work()).toEqual([]);
  expect(rig.log.join("")).not.toContain(secret);
  // Of what strangers ask for only what is configured is on record.
  expect(new Set(rig.events.map(({ data }) => JSON.stringify({ ...data, untold: 0 })))).toEqual(
    new Set(['{"hook":"deploys","reason":"signature","untold":0}']),
  );
});

test("a secret that was changed counts no more", async () => {
  await using rig = await openRig();
  const headers = { "x-crabpot-signature": signatureOf(secret, Buffer.from("x")) };
  rig.hooks["deploys"] = { ...(rig.hooks["deploys"] as Webhook), secret: "a newer one" };

  expect((await rig.post("deploys", "x", headers)).status).toBe(401);
});

test("GitHub's headers count as well", async () => {
  await using rig = await openRig();
  const sign = { "x-hub-signature-256": signatureOf(secret, Buffer.from("ping")) };

  const first = await rig.post("deploys", "ping", { ...sign, "x-github-delivery": "72d3162e" });
  const again = await rig.post("deploys", "ping", { ...sign, "x-github-delivery": "72d3162e" });

  expect([first.status, again.status, again.body.duplicate]).toEqual([202, 202, true]);
  expect(again.body.id).toBe(first.body.id);
});

test("one delivery has one effect for ever, also after a restart and with another body", async () => {
  await using rig = await openRig();
  const number = { "x-crabpot-delivery": "d-1" };

  const answers = await Promise.all(Array.from({ length: 8 }, () => rig.call("a", number)));
  await rig.time.advance(24 * 60 * minuteMs);
  rig.restart();
  const later = [await rig.call("a", number), await rig.call("b", number)];
  const other = await rig.call("a", { "x-crabpot-delivery": "d-2" });

  expect(answers.filter(({ body }) => body.duplicate === false)).toHaveLength(1);
  expect(later.map(({ body }) => body.duplicate)).toEqual([true, true]);
  expect(new Set([...answers, ...later].map(({ body }) => body.id)).size).toBe(1);
  expect(other.body.duplicate).toBe(false);
  expect(await rig.work()).toHaveLength(2);
});

test("without a number one body has one effect in five minutes", async () => {
  await using rig = await openRig();
  const duplicates: unknown[] = [];
  for (const [waitMs, body] of [
    [0, "a"],
    [1, "b"],
    [5 * minuteMs - 2, "a"],
    [1, "a"],
    [5 * minuteMs - 1, "a"],
  ] as const) {
    await rig.time.advance(waitMs);
    rig.restart();
    duplicates.push((await rig.call(body)).body.duplicate);
  }

  expect(duplicates).toEqual([false, false, true, false, true]);
});

test("more than the hook may is refused for a while, before anything is stored", async () => {
  await using rig = await openRig({ hook: { perMinute: 3 } });

  const statuses: number[] = [];
  for (let index = 0; index < 3; index += 1) statuses.push((await rig.call(`${index}`)).status);
  const over = await rig.call("more");
  await rig.time.advance(Number(over.retryAfter) * 1_000);
  const later = await rig.call("more");

  expect(statuses).toEqual([202, 202, 202]);
  expect([over.status, over.retryAfter, later.status]).toEqual([429, "20", 202]);
  expect(await rig.work()).toHaveLength(4);
});

test("calls of strangers do not use up what the hook may", async () => {
  await using rig = await openRig({ hook: { perMinute: 1 } });
  for (let index = 0; index < 20; index += 1) await rig.post("deploys", "x", { "x-crabpot-signature": "sha256=00" });

  expect((await rig.call("x")).status).toBe(202);
  expect(rig.events.filter(({ type }) => type === "webhook.refused")).toHaveLength(10);
});

test("at most a hundred calls wait for a group's agent", async () => {
  await using rig = await openRig();
  const session = await rig.store.sessions.open("main:fake:chat of family", "family");
  for (let index = 0; index < 100; index += 1) {
    const work = {
      group: "family",
      session: session.id,
      cause: "webhook",
      dueAt: 0,
      replyTo: { kind: "nowhere" },
    } as const;
    await rig.store.work.add({ ...work, id: randomUUID(), origin: "web", lineage: ofMember, text: "x" }, 0);
  }

  const full = await rig.call("one more");

  expect([full.status, full.retryAfter]).toEqual([429, "60"]);
  expect(await rig.work()).toHaveLength(100);
});

test("what cannot be taken is refused with the reason", async () => {
  await using rig = await openRig();
  const large = "x".repeat(256 * 1024);

  const whole = await rig.call(large, { "x-crabpot-delivery": "large" });
  const tooLarge = await rig.call(`${large}x`);
  const binary = await rig.call(new Uint8Array([0xff, 0xd8, 0xff, 0xe0]));
  const badNumber = await rig.call("x", { "x-crabpot-delivery": "a b" });
  const longNumber = await rig.call("x", { "x-crabpot-delivery": "a".repeat(201) });
  rig.state.intake = { open: false, code: "disk-full", reason: "the disk is nearly full" };
  const stopped = await rig.call("x");
  rig.state.intake = { open: true };
  rig.state.groups = [];
  const unserved = await rig.call("x");
  rig.starting();
  const starting = await rig.call("x");

  const refused = [tooLarge, binary, badNumber, longNumber, stopped, unserved, starting];
  expect(whole.status).toBe(202);
  expect(refused.map(({ status }) => status)).toEqual([413, 400, 400, 400, 503, 404, 503]);
  expect(unserved.text).not.toContain("family");
  expect(stopped.body.error?.message).toBe("Not now: the disk is nearly full.");
  expect(await rig.work()).toHaveLength(1);
});

test("any kind of content is taken as the bytes that it is, and none is unpacked", async () => {
  await using rig = await openRig();
  const types = [
    "application/x-www-form-urlencoded",
    "text/xml; charset=utf-16",
    "application/json; charset=latin1",
    "image/png",
  ];

  for (const type of types) expect((await rig.call(`a=${type}`, { "content-type": type })).status).toBe(202);
  expect((await rig.call("", { "content-type": "text/plain" })).status).toBe(202);
  expect((await rig.call("zipped", { "content-encoding": "gzip" })).status).toBe(202);
  expect((await rig.work()).map(({ payload }) => payload).toReversed()).toEqual([
    ...types.map((type) => `a=${type}`),
    undefined,
    "zipped",
  ]);
});

test("without a token nothing but hooks and health is open", async () => {
  await using rig = await openRig();
  const statuses = async (headers: Record<string, string>) =>
    Promise.all(
      ["/v1/approvals", "/metrics", "/v1/hooks/deploys", "/nothing", "/health/live"].map(
        async (path) => (await fetch(`${rig.url}${path}`, { headers })).status,
      ),
    );

  expect(await statuses({})).toEqual([401, 401, 401, 401, 200]);
  expect(await statuses({ authorization: "Bearer " })).toEqual([401, 401, 401, 401, 200]);
  expect(await statuses({ authorization: "Bearer undefined" })).toEqual([401, 401, 401, 401, 200]);
  expect((await rig.call("x")).status).toBe(202);
});

test("a page of another site cannot call a hook", async () => {
  await using rig = await openRig();

  expect((await rig.call("x", { origin: "https://evil.example" })).status).toBe(403);
  expect(await rig.work()).toEqual([]);
});

/** A call whose body never ends; resolves when the host waits for the rest. */
async function dawdle(url: string): Promise<Socket> {
  const { port } = new URL(url);
  const socket = connect(Number(port), "127.0.0.1");
  socket.on("error", () => undefined);
  const lines = ["POST /v1/hooks/deploys HTTP/1.1", "host: localhost", "content-length: 100", "expect: 100-continue"];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  await once(socket, "data");
  socket.write("a beginning");
  return socket;
}

test("strangers who never come to the end of what they send do not keep out who does", async () => {
  await using rig = await openRig();
  const slow: Socket[] = [];
  for (let count = 0; count < 64; count += 1) slow.push(await dawdle(rig.url));
  const isGone = slow[0] && once(slow[0], "close");

  const calls = [await rig.call("one"), await rig.call("two")];
  await isGone;
  for (const socket of slow) socket.destroy();

  expect(calls.map(({ status }) => status)).toEqual([202, 202]);
  expect(await rig.work()).toHaveLength(2);
});

test("a header that is there twice is no signature and no number", async () => {
  await using rig = await openRig();
  const { port } = new URL(rig.url);
  const twice = async (headers: readonly string[]): Promise<number | undefined> => {
    const sent = request({ host: "127.0.0.1", port, path: "/v1/hooks/deploys", method: "POST", headers: [...headers] });
    sent.end("x");
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    answer.resume();
    return answer.statusCode;
  };
  const signature = signatureOf(secret, Buffer.from("x"));
  const framing = ["Host", "localhost", "Content-Length", "1"];

  const statuses = [
    await twice([...framing, "X-Crabpot-Signature", signature, "X-Crabpot-Signature", signature]),
    await twice([...framing, "X-Crabpot-Signature", "sha256=0", "X-Crabpot-Signature", signature]),
    await twice([...framing, "X-Crabpot-Signature", signature, "X-Crabpot-Delivery", "a", "X-Crabpot-Delivery", "b"]),
    await twice([...framing, "X-Crabpot-Signature", "", "X-Hub-Signature-256", signature]),
  ];

  expect(statuses).toEqual([401, 401, 400, 401]);
  expect(await rig.work()).toEqual([]);
});
