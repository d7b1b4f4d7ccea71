import { PassThrough } from "node:stream";

import pino from "pino";
import { expect, test } from "vitest";
import * as z from "zod";

import type { ChannelPorts, ChannelTraits } from "../../../src/channels/define-channel.ts";
import { defineChannel } from "../../../src/channels/define-channel.ts";
import { Aliases } from "../../../src/rights/people/aliases.ts";
import { systemClock } from "../../../src/lib/time/clock.ts";
import { openChannels, type ChannelResources } from "../../../src/channels/open-channels.ts";
import { FakeChannel } from "../../fakes/fake-channel.ts";
import { openTestStore } from "../../support/open-test-store.ts";

const person = {
  input: new PassThrough(),
  output: new PassThrough(),
  error: new PassThrough(),
  json: false,
  interactive: false,
};

/** Opens channels of these names and traits; what each was opened with. */
async function open(wanted: Readonly<Record<string, ChannelTraits>>, resources: Partial<ChannelResources> = {}) {
  await using stack = new AsyncDisposableStack();
  const { store } = stack.use(await openTestStore());
  const ports = new Map<string, ChannelPorts>();
  const channels = Object.entries(wanted).map(([name, traits]) =>
    defineChannel({
      name,
      config: z.strictObject({ size: z.number().default(1) }),
      traits,
      variables: ["TZ"],
      open: async (_settings, given) => {
        ports.set(name, given);
        return new FakeChannel(name);
      },
    }),
  );
  const running = await openChannels(channels, stack, {
    settings: Object.fromEntries(channels.map(({ name }) => [name, {}])),
    assistantName: () => "crab",
    instance: "0123456789abcdef",
    variables: { TZ: "UTC", SECRET: "not for channels" },
    idsOf: (name) => new Aliases(channels).of(name, store.channelState, () => []),
    store,
    clock: systemClock,
    logger: pino({ level: "silent" }),
    routes: undefined,
    console: undefined,
    groups: () => [],
    ...resources,
  });
  const owned = stack.move();
  const get = (name: string): ChannelPorts => {
    const found = ports.get(name);
    if (!found) throw new Error(`${name} was not opened`);
    return found;
  };
  return { ...running, ports: get, store, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

test("a channel reaches what it has kept itself, and nothing of another one", async () => {
  await using opened = await open({ one: {}, two: {} });
  const { state } = opened.ports("one");
  const changes = new Map([["key", Buffer.from("value")]]);

  await state.apply("one", changes);
  await state.apply("one/deeper", changes);
  await state.rename("one/deeper", "one/elsewhere");

  expect([...(await state.list("one/elsewhere")).keys()]).toEqual(["key"]);
  expect((await opened.ports("two").state.read("two", ["key"])).size).toBe(0);
  for (const space of ["two", "on", "ones", "", "two/one"]) {
    await expect(state.read(space, ["key"])).rejects.toThrow("not its own");
    await expect(state.list(space)).rejects.toThrow("not its own");
    await expect(state.apply(space, changes)).rejects.toThrow("not its own");
    await expect(state.rename("one", space)).rejects.toThrow("not its own");
  }
});

test("a channel sees the variables that it names, and gets in only where its traits say so", async () => {
  await using opened = await open({ plain: {}, seated: { console: true } }, { console: person });

  expect(opened.ports("plain").variables).toEqual({ TZ: "UTC" });
  expect(() => opened.ports("plain").console()).toThrow('without the trait "console"');
  expect(() => opened.ports("plain").routes()).toThrow('without the trait "gateway"');
  expect(opened.ports("seated").console()).toBe(person);
});

test("a channel of the console runs only where somebody started the host for it, and comes last", async () => {
  const wanted = { seated: { console: true }, plain: {} };
  await using alone = await open(wanted);
  await using attended = await open(wanted, { console: person });

  expect(alone.channels.map(({ name }) => name)).toEqual(["plain"]);
  expect(attended.channels.map(({ name }) => name)).toEqual(["plain", "seated"]);
});

test("a name that could not stand in the configuration, or in the key of a session, is refused", () => {
  for (const name of ["", "Upper", "a:b", "a b", "-a", "a".repeat(65)]) {
    expect(() => defineChannel({ name, config: z.strictObject({}), open: async () => new FakeChannel() })).toThrow(
      `A channel cannot be called "${name}".`,
    );
  }
});

test("a channel knows which of its chats are groups, where chats are typed by their names too, and nothing of other channels", async () => {
  const groups = [
    { name: "family", channel: "typed", chat: "fam" },
    { name: "work", channel: "ids", chat: "1203@g.us" },
  ] as unknown as ReturnType<ChannelResources["groups"]>;
  await using opened = await open({ typed: { typedChats: true }, ids: {} }, { groups: () => groups });

  expect(opened.ports("typed").chats()).toEqual(["fam", "family"]);
  expect(opened.ports("ids").chats()).toEqual(["1203@g.us"]);
});
