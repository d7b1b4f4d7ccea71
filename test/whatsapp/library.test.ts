import { afterAll, expect, test } from "vitest";

import { LibraryClient, LibraryState, pairLibrary, pinRoot } from "../support/whatsapp/library-client.ts";
import { LibraryRig } from "../support/whatsapp/library-rig.ts";
import { withRealSignatures } from "../support/whatsapp/signature.ts";

const rig = await LibraryRig.open();
const { whatsapp } = rig;
afterAll(async () => rig[Symbol.asyncDispose]());

test("a client that was linked by QR code is told to restart, and logs in with what it saved", async () => {
  const owner = await rig.somebody("Owner");
  const state = new LibraryState();

  await using first = new LibraryClient(whatsapp, state);
  await whatsapp.scan(await first.qrCode, owner.name);
  const reason = await first.closed;
  await using second = new LibraryClient(whatsapp, state);
  await second.opened;

  expect(reason).toBe(515);
  expect(second.socket.user?.id).toBe(`${owner.pn}:1@s.whatsapp.net`);
  expect(second.socket.user?.lid).toBe(`${owner.lid}:1@lid`);
});

test("a client that was linked by a code that was typed on the phone logs in", async () => {
  const owner = await rig.somebody("Owner");
  const state = new LibraryState();
  await using first = new LibraryClient(whatsapp, state);
  await first.qrCode;

  const code = await first.socket.requestPairingCode(owner.pn);
  await whatsapp.enterPairingCode(code, owner.name);
  const reason = await first.closed;
  await using second = new LibraryClient(whatsapp, state);
  await second.opened;

  expect(code).toMatch(/^[A-Z0-9]{8}$/);
  expect(reason).toBe(515);
  expect(second.socket.user?.id).toBe(`${owner.pn}:1@s.whatsapp.net`);
});

test("a linked client logs in again and again with what it saved", async () => {
  for (let start = 0; start < 3; start += 1) {
    await using client = await rig.logIn();
    expect(client.connection).toBe("open");
  }
});

test("two accounts with a client each talk to one another in a group", async () => {
  const carl = await rig.somebody("Carl");
  const group = await whatsapp.addGroup({ subject: "Two", members: [carl, whatsapp.bot] });
  await using hers = await rig.logIn();
  await using his = new LibraryClient(whatsapp, await pairLibrary(whatsapp, carl.name));
  await his.opened;

  await his.socket.sendMessage(group.id, { text: "from a client" });
  await expect
    .poll(() => hers.messages.map(({ message }) => message?.extendedTextMessage?.text))
    .toEqual(["from a client"]);
  await hers.socket.sendMessage(group.id, { text: "to a client" });

  await expect
    .poll(() => his.messages.map(({ message }) => message?.extendedTextMessage?.text))
    .toEqual(["to a client"]);
  expect(await carl.texts(group)).toEqual(["from a client", "to a client"]);
});

test("a server with a foreign root is refused when signatures are really checked", async () => {
  using stack = new DisposableStack();
  stack.use(withRealSignatures());
  stack.use(pinRoot(Buffer.alloc(32, 9)));

  await using client = new LibraryClient(whatsapp, rig.state);

  await expect(client.opened).rejects.toThrow("before it was open");
});

test("a server with a foreign root is believed when the library is left alone, which is its flaw", async () => {
  using stack = new DisposableStack();
  stack.use(pinRoot(Buffer.alloc(32, 9)));

  await using client = await rig.logIn();

  expect(client.connection).toBe("open");
});

test("pairing and logging in work when signatures are really checked", async () => {
  using stack = new DisposableStack();
  stack.use(withRealSignatures());
  const owner = await rig.somebody("Owner");

  await using client = new LibraryClient(whatsapp, await pairLibrary(whatsapp, owner.name));
  await client.opened;

  expect(client.connection).toBe("open");
});
