import { request } from "node:http";

import { describe, expect, test } from "vitest";

import type { AcceptMessage, Receipt } from "../../../src/channels/channel.ts";
import type { IncomingMessage } from "../../../src/domain/chats/message.ts";
import { AppError } from "../../../src/lib/app-error.ts";
import { reply } from "../../contracts/channel.ts";
import { type HttpRig, openHttpRig, token } from "../../support/http-rig.ts";

const stored: Receipt = { outcome: "stored", duplicate: false };
const never = new AbortController().signal;
const hello = { id: "m-1", group: "family", sender: { id: "a-1", name: "Anna" }, text: "hello" };

async function openStarted(accept: AcceptMessage = async () => stored): Promise<HttpRig> {
  const rig = await openHttpRig();
  await rig.channel.start(accept);
  return rig;
}

test("who waits can be seen: in which group, for what, and since when", async () => {
  await using rig = await openStarted();
  const groups = async () => ((await rig.fetch("/v1/channels/http/activity")).body as { groups: object[] }).groups;

  expect(await groups()).toEqual([]);
  await rig.channel.signal("family", "queued");
  await rig.channel.signal("work", "working");
  const [first] = await groups();
  await rig.channel.signal("family", "queued");
  const [again] = await groups();
  await rig.channel.signal("family", "working");
  const later = await groups();
  await rig.channel.signal("work", "idle");

  expect(first).toEqual({ group: "family", state: "queued", since: expect.any(Number) });
  expect(again).toEqual(first);
  expect(later).toMatchObject([
    { group: "family", state: "working" },
    { group: "work", state: "working" },
  ]);
  expect(await groups()).toMatchObject([{ group: "family", state: "working" }]);
});

describe("a posted message", () => {
  test("is answered with 202 once it is stored, and says when it was there before", async () => {
    let duplicate = true;
    await using rig = await openStarted(async () => ({ outcome: "stored", duplicate: (duplicate = !duplicate) }));

    const [first, second] = [await rig.post(hello), await rig.post(hello)];

    expect([first.status, first.body]).toEqual([202, { id: "m-1", duplicate: false }]);
    expect([second.status, second.body]).toEqual([202, { id: "m-1", duplicate: true }]);
  });

  test("is handed over with its mention and the message that it replies to", async () => {
    const accepted: IncomingMessage[] = [];
    await using rig = await openStarted(async (message) => {
      accepted.push(message);
      return stored;
    });
    const replyTo = { id: "q", author: "Bert", text: "quoted", toAgent: true };

    await rig.post({ ...hello, mention: true, forwarded: true, replyTo });
    await rig.post({ ...hello, replyTo: "17" });

    expect(accepted[0]).toEqual({
      channel: "http",
      chat: "family",
      id: "m-1",
      sender: { id: "a-1", name: "Anna" },
      text: "hello",
      mention: true,
      forwarded: true,
      quote: replyTo,
    });
    expect(accepted[1]).toMatchObject({ mention: false, quote: { id: "17" } });
  });

  test.each<[string, unknown, string]>([
    ["has an unknown key", { ...hello, isMain: true }, "isMain"],
    ["has an unknown key inside", { ...hello, sender: { ...hello.sender, admin: true } }, "sender.admin"],
    ["has no id", { ...hello, id: undefined }, "id"],
    ["has an empty text", { ...hello, text: "" }, "text"],
    ["has no sender's id", { ...hello, sender: { name: "Anna" } }, "sender.id"],
    ["has a number for a text", { ...hello, text: 7 }, "text"],
    ["has an endless name", { ...hello, sender: { id: "a", name: "x".repeat(300) } }, "sender.name"],
    ["has a string for a mention", { ...hello, mention: "false" }, "mention"],
    ["replies to a number", { ...hello, replyTo: 7 }, "replyTo"],
    ["replies to nothing", { ...hello, replyTo: {} }, "replyTo.id"],
    ["is a list", [hello], "body"],
    ["is no JSON", "{", "body"],
    ["is empty", "", "body"],
    ["would change prototypes", '{"__proto__":{"isMain":true}}', "body"],
    ["is nested without end", "[".repeat(100_000), "body"],
  ])("that %s is refused with 400 and the place", async (_title, body, path) => {
    let accepted = 0;
    await using rig = await openStarted(async () => {
      accepted += 1;
      return stored;
    });

    const answer = await rig.post(body);

    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ error: { code: "bad_input", message: expect.any(String), path } });
    expect(accepted).toBe(0);
  });

  test.each<[string, Receipt, { status: number; code: string; retryAfter: string | null }]>([
    [
      "for an unknown group gets 404",
      { outcome: "unknown-chat" },
      { status: 404, code: "not_found", retryAfter: null },
    ],
    [
      "for a full queue gets 429 and when to come again",
      { outcome: "refused", reason: "queue-full", retryAfterS: 4.2, stopped: false },
      { status: 429, code: "rate_limited", retryAfter: "5" },
    ],
    [
      "while the intake is stopped gets 503",
      { outcome: "refused", reason: "disk", retryAfterS: 5, stopped: true },
      { status: 503, code: "intake_stopped", retryAfter: "5" },
    ],
    [
      "that will never be taken gets 413",
      { outcome: "refused", reason: "too long", retryAfterS: 0, stopped: false },
      { status: 413, code: "too_large", retryAfter: null },
    ],
  ])("%s", async (_title, receipt, expected) => {
    await using rig = await openStarted(async () => receipt);

    const answer = await rig.post(hello);

    const { code, ...head } = expected;
    expect({ status: answer.status, retryAfter: answer.headers.get("retry-after") }).toEqual(head);
    expect(answer.body).toEqual({ error: { code, message: expect.any(String) } });
  });

  test("that is too large, or of too many values, gets 413, and one that is not JSON is not taken", async () => {
    await using rig = await openStarted();
    const path = "/v1/channels/http/messages";

    const large = await rig.post({ ...hello, text: "x".repeat(16 * 1024 * 1024) });
    const nested = await rig.post("[".repeat(200_000));
    const form = await rig.fetch(path, { method: "POST", body: new URLSearchParams({ text: "x" }) });
    const plain = await rig.fetch(path, {
      method: "POST",
      body: JSON.stringify(hello),
      headers: { "content-type": "text/plain" },
    });

    expect([large.status, nested.status, form.status, plain.status]).toEqual([413, 413, 415, 415]);
    expect(large.body).toMatchObject({ error: { code: "too_large" } });
  });

  test("that cannot be stored is not acknowledged, and nobody sees why but the log", async () => {
    await using rig = await openStarted(async ({ text }) => {
      if (text === "known") throw new AppError("store_failed", "The database cannot be written.");
      throw new Error("SECRET at /home/x/file.ts");
    });

    const known = await rig.post({ ...hello, text: "known" });
    const unknown = await rig.post(hello);

    expect([known.status, unknown.status]).toEqual([503, 500]);
    expect(JSON.stringify(unknown.body)).not.toMatch(/SECRET|stack|file\.ts/);
  });

  test("before the host has started gets 503", async () => {
    await using rig = await openHttpRig();

    expect((await rig.post(hello)).status).toBe(503);
  });
});

describe("replies", () => {
  test("can be fetched in order, in parts, and again by a reader that confirmed nothing", async () => {
    await using rig = await openStarted();
    for (let seq = 1; seq <= 250; seq += 1) rig.offer(reply(seq * 2, `text ${seq}`, { group: "family" }));

    const first = await rig.replies();
    const second = await rig.replies(`?after=${first.next}`);
    const third = await rig.replies(`?after=${second.next}`);
    const end = await rig.replies(`?after=${third.next}`);
    const again = await rig.replies();

    expect([...first.replies, ...second.replies, ...third.replies].map(({ seq }) => seq)).toEqual(
      Array.from({ length: 250 }, (_, index) => (index + 1) * 2),
    );
    expect(end).toEqual({ replies: [], next: 500 });
    expect(again).toEqual(first);
  });

  test("say all that a reader needs", async () => {
    await using rig = await openStarted();
    const inReplyTo = ["said-1", "said-2"];
    const about = { inReplyTo, files: [] };
    rig.offer(reply(7, "hi", { group: "family", chat: "room-1", inReplyTo, thread: "T 1" }));
    rig.offer(reply(8, "full", { kind: "notice", turn: undefined, inReplyTo: [] }));

    const { replies, next } = await rig.replies("?after=0&wait=5");

    expect(replies).toEqual([
      {
        ...about,
        seq: 7,
        group: "family",
        text: "hi",
        replyTo: "said-2",
        thread: "T 1",
        turn: "turn-1",
        kind: "reply",
      },
      {
        seq: 8,
        group: "main",
        text: "full",
        inReplyTo: [],
        replyTo: null,
        thread: null,
        turn: null,
        kind: "notice",
        files: [],
      },
    ]);
    expect(next).toBe(8);
  });

  // Waiting to the end would take a minute.
  test("reach all readers that wait for them as soon as they are sent", { timeout: 50_000 }, async () => {
    await using rig = await openStarted();
    const polls = [1, 2, 3].map(() => rig.replies("?wait=60"));
    await rig.replies();

    rig.offer(reply(1, "now"));
    await rig.channel.send(reply(1, "now"), never);
    const answers = await Promise.all(polls);

    expect(answers.map(({ replies }) => replies.length)).toEqual([1, 1, 1]);
  });

  test("are not waited for longer than was asked for", async () => {
    await using rig = await openStarted();

    expect(await rig.replies("?after=3&wait=0.05")).toEqual({ replies: [], next: 3 });
  });

  test("are not waited for any longer when the host ends", { timeout: 50_000 }, async () => {
    const rig = await openStarted();
    const poll = rig.replies("?wait=60");
    await rig.replies();

    await rig[Symbol.asyncDispose]();

    expect(await poll).toEqual({ replies: [], next: 0 });
  });

  test("are not waited for any longer when only the server ends", { timeout: 50_000 }, async () => {
    await using rig = await openStarted();
    const poll = rig.replies("?wait=60");
    await rig.replies();

    await rig.server[Symbol.asyncDispose]();

    expect(await poll).toEqual({ replies: [], next: 0 });
  });

  test("a reader that hangs up while it waits leaves nothing behind", async () => {
    await using rig = await openStarted();
    const options = { headers: { authorization: `Bearer ${token}` } };
    const poll = request(`${rig.url}/v1/channels/http/replies?wait=60`, options);
    const failed = new Promise((resolve) => poll.once("error", resolve));
    poll.end();
    await expect.poll(() => openConnections(rig)).toBe(1);

    poll.destroy();
    await failed;

    await expect.poll(() => openConnections(rig)).toBe(0);
    const before = rig.reads();
    await rig.channel.send(reply(1, "nobody waits"), never);
    await rig.replies();
    expect(rig.reads()).toBe(before + 1);
  });

  test.each(["after=-1", "after=x", "after=1.5", "after=", "wait=x", "wait=-1", "wait=1&wait=2", "since=3"])(
    "are refused with 400 for %s",
    async (query) => {
      await using rig = await openStarted();

      const answer = await rig.fetch(`/v1/channels/http/replies?${query}`);

      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ error: { code: "bad_input", path: query.split("=")[0] } });
    },
  );
});

function openConnections(rig: HttpRig): Promise<number> {
  return new Promise((resolve, reject) => {
    rig.server.routes.server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });
}
