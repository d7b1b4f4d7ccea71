import { once } from "node:events";

import { afterAll, afterEach, expect, test } from "vitest";

import { LibraryClient } from "../support/whatsapp/library-client.ts";
import { pairLibrary } from "../support/whatsapp/library-client.ts";
import { LibraryRig } from "../support/whatsapp/library-rig.ts";

const rig = await LibraryRig.open();
const { whatsapp } = rig;
afterAll(async () => rig[Symbol.asyncDispose]());
afterEach(async () => whatsapp.fault({ upgrade: "accept", loginFailure: null, silent: false, messageCount: 0 }));

test.each([440, 500, 503, 515])("a stream that ends with %i is reported as that", async (code) => {
  await using client = await rig.logIn();

  await whatsapp.endStream(code);

  expect(await client.closed).toBe(code);
});

test("a broken line is reported as 428", async () => {
  await using client = await rig.logIn();

  await whatsapp.cut();

  expect(await client.closed).toBe(428);
});

test("a second client with the same state takes the place of the first, which hears 440", async () => {
  await using first = await rig.logIn();

  await using second = await rig.logIn();

  expect(await first.closed).toBe(440);
  expect(second.connection).toBe("open");
});

test.each([401, 403, 405, 503])("a login that is refused with %i is reported as that", async (code) => {
  await whatsapp.fault({ loginFailure: code });

  await using client = new LibraryClient(whatsapp, rig.state);

  expect(await client.closed).toBe(code);
});

test("a client that the phone removes hears 401, now and at each login after that", async () => {
  const owner = await rig.somebody("Owner");
  const state = await pairLibrary(whatsapp, owner.name);
  await using client = new LibraryClient(whatsapp, state);
  await client.opened;

  await whatsapp.perform("unlink", { account: owner.name });
  const reason = await client.closed;
  await using again = new LibraryClient(whatsapp, state);

  expect(reason).toBe(401);
  expect(await again.closed).toBe(401);
});

test("a client that logs out is unknown to the server from then on", async () => {
  const owner = await rig.somebody("Owner");
  const state = await pairLibrary(whatsapp, owner.name);
  await using client = new LibraryClient(whatsapp, state);
  await client.opened;

  await client.socket.logout();
  await using again = new LibraryClient(whatsapp, state);

  expect(await again.closed).toBe(401);
});

test("an upgrade that is answered with 503 leaves the library connecting for ever", async () => {
  await whatsapp.fault({ upgrade: "refuse" });
  const client = new LibraryClient(whatsapp, rig.state, { connectTimeoutMs: 10_000 });

  await once(client.socket.ws, "unexpected-response");

  expect(client.socket.ws.isConnecting).toBe(true);
  expect(client.connection).toBe("connecting");
});

test.each(["hang", "mute"] as const)(
  "a server that takes the connection and says nothing (%s) is given up",
  async (upgrade) => {
    await whatsapp.fault({ upgrade });

    await using client = new LibraryClient(whatsapp, rig.state, { connectTimeoutMs: 300 });

    expect(await client.closed).toBe(408);
  },
);

test("a line that is silent is given up with 408 some seconds after the keep-alive", async () => {
  await using client = await rig.logIn({ keepAliveIntervalMs: 200 });

  await whatsapp.fault({ silent: true });

  expect(await client.closed).toBe(408);
});

test("what came over a silent line comes again after the next login", async () => {
  const { group, ann } = await rig.group();
  await using first = await rig.logIn();
  await whatsapp.fault({ silent: true });
  await ann.say(group, "can you hear me?", { id: "UNHEARD" });
  await whatsapp.cut();
  await first.closed;
  await whatsapp.fault({ silent: false });

  await using second = await rig.logIn();

  await expect.poll(() => second.upserts.find(({ message }) => message.key.id === "UNHEARD")?.type).toBe("append");
});

test.each([463, 479])(
  "a message that is refused with %i is an error in its acknowledgement and in its status",
  async (code) => {
    const { group, ann } = await rig.group();
    await using client = await rig.logIn();
    await whatsapp.fault({ message: code, messageCount: 1 });

    await client.socket.sendMessage(group.id, { text: "hello" }, { messageId: `REFUSED${code}` });

    await expect.poll(() => client.acks.map(({ attrs }) => attrs["error"])).toEqual([String(code)]);
    await expect
      .poll(() => client.updates.map(({ key, update }) => [key.id, update.status]))
      .toContainEqual([`REFUSED${code}`, 0]);
    expect(await ann.inbox()).toEqual([]);
  },
);

test("sending resolves without the server's acknowledgement", async () => {
  const { group, ann } = await rig.group();
  await using client = await rig.logIn();
  await whatsapp.fault({ message: "withhold", messageCount: 1 });

  await client.socket.sendMessage(group.id, { text: "hello" });

  await expect.poll(async () => ann.texts(group)).toEqual(["hello"]);
  expect(client.acks).toEqual([]);
});

test.each(["lost", "cut"] as const)(
  "a message whose line is cut before the acknowledgement (%s) is not sent again by the library, and is seen once when we send it again",
  async (message) => {
    const { group, ann, bob } = await rig.group();
    await using first = await rig.logIn();
    await whatsapp.fault({ message, messageCount: 1 });
    await first.socket.sendMessage(group.id, { text: "once" }, { messageId: `ONCE${message}` });
    await first.closed;
    await using second = await rig.logIn();
    const before = (await whatsapp.observe()).sends.filter(({ id }) => id === `ONCE${message}`);

    await second.socket.sendMessage(group.id, { text: "once" }, { messageId: `ONCE${message}` });

    // Whoever has not got the keys of the lost one asks for it again, which is acknowledged as well.
    await expect.poll(() => [...new Set(second.acks.map(({ attrs }) => attrs["id"]))]).toEqual([`ONCE${message}`]);
    expect(before).toHaveLength(1);
    await expect.poll(() => ann.texts(group)).toEqual(["once"]);
    await expect.poll(() => bob.texts(group)).toEqual(["once"]);
  },
);
