import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";
import { stringify } from "yaml";
import * as z from "zod";

import { defineChannel } from "../../../src/channels/define-channel.ts";
import { type Adapters, hasTrait, withBuiltInAdapters } from "../../../src/config/adapters.ts";
import { configJsonSchema } from "../../../src/config/schema/json-schema.ts";
import { checkConfig, describeFault, loadConfig } from "../../../src/config/loading/load.ts";
import { openLateProvider } from "../../../src/models/catalog.ts";
import { defineProvider } from "../../../src/models/define-provider.ts";
import { FakeChannel } from "../../fakes/fake-channel.ts";
import { parrot } from "../../fixtures/adapters/parrot-provider.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Its schema does not say itself that it is strict, and knows more than single values. */
const range = defineChannel({
  name: "range",
  config: z
    .object({ from: z.number(), to: z.number().default(9), key: z.string().default("") })
    .refine(({ from, to }) => from <= to, { path: ["to"], message: "must not be below from" }),
  traits: { gateway: true, onboards: true },
  secrets: ({ key }) => ({ key }),
  open: async () => new FakeChannel(),
});

async function check(config: object, adapters: Adapters, variables: Record<string, string> = {}) {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "config.yaml");
  await writeFile(file, stringify(config), { mode: 0o600 });
  return await checkConfig(file, variables, adapters);
}

async function faultsOf(config: object): Promise<string[]> {
  const checked = await check(config, withBuiltInAdapters({ channels: [range] }));
  return checked.ok ? [] : checked.faults.map(describeFault);
}

const gateway = { token: "token-of-the-gateway" };

test("a channel's own schema judges what stands below its name, and every key that it does not know is refused", async () => {
  expect(await faultsOf({ gateway, channels: { range: { from: 1 } } })).toEqual([]);
  expect(await faultsOf({ gateway, channels: { range: { from: 1, form: 2 } } })).toEqual([
    "channels.range.form: unknown key; did you mean from?",
  ]);
  expect(await faultsOf({ gateway, channels: { range: { from: 11 } } })).toEqual([
    "channels.range.to: must not be below from",
  ]);
  expect(await faultsOf({ gateway, channels: { rang: {} } })).toEqual([
    "channels.rang: unknown key; did you mean range?",
  ]);
  expect(await faultsOf({ channels: { range: { from: 1 } } })).toEqual([
    "gateway.token: is missing; the range channel needs one",
  ]);
});

test("its secrets are known, its numbers may come from variables, and its traits count while it is configured", async () => {
  const adapters = withBuiltInAdapters({ channels: [range] });
  const config = { gateway, channels: { range: { from: "${FROM}", key: "${KEY}" } } };
  const checked = await check(config, adapters, { FROM: "3", KEY: "open-sesame-4711" });
  const without = await check({}, adapters);
  if (!checked.ok || !without.ok) throw new Error("not accepted");

  expect(checked.loaded.config.channels["range"]).toEqual({ from: 3, to: 9, key: "open-sesame-4711" });
  expect(checked.loaded.secrets).toEqual([gateway.token, "open-sesame-4711"]);
  expect(hasTrait(checked.loaded, "range", "onboards")).toBe(true);
  expect(hasTrait(checked.loaded, "range", "reactions")).toBe(false);
  expect(hasTrait(without.loaded, "range", "onboards")).toBe(false);
  expect(hasTrait(without.loaded, "terminal", "typedChats")).toBe(true);
});

test("the JSON Schema holds what adapters from outside allow", () => {
  const schema = JSON.stringify(configJsonSchema(withBuiltInAdapters({ channels: [range], providers: [parrot] })));

  expect(schema).toContain('"range":{"type":"object"');
  expect(schema).toContain('"const":"parrot"');
});

test("a key in the environment chooses a provider from outside, after those of crabpot", async () => {
  await using folder = await temporaryFolder();
  const keyVariable = "PARROT_PASSWORD";
  const wild = defineProvider({
    ...parrot,
    environment: { keyVariable, settings: { password: keyVariable }, model: "grey" },
  });
  const adapters = withBuiltInAdapters({ providers: [wild] });
  const file = join(folder.path, "config.yaml");

  const { config, announcements } = await loadConfig(file, { PARROT_PASSWORD: "doubloon" }, adapters);
  const other = await loadConfig(file, { PARROT_PASSWORD: "doubloon", OPENAI_API_KEY: "k" }, adapters);

  expect(config.models).toMatchObject({
    routes: { main: ["parrot/grey"] },
    providers: { parrot: { kind: "parrot", sound: "Squawk!", password: "doubloon" } },
  });
  expect(announcements).toEqual([
    "No config.yaml, but PARROT_PASSWORD is set: parrot/grey answers.",
    expect.stringMatching(
      /^All groups together may spend 5 US dollars a day\. .*budgets: \{ total: \{ usdPerDay: 20 \} \}$/,
    ),
  ]);
  expect(other.config.models.routes["main"]).toEqual(["openai/gpt-6.1-sol"]);
});

test("two adapters of one name are refused", () => {
  const second = { ...range, name: "http" };

  expect(() => withBuiltInAdapters({ channels: [second] })).toThrow('Two channels are called "http".');
  expect(() => withBuiltInAdapters({ providers: [parrot, parrot] })).toThrow(
    'Two kinds of providers are called "parrot".',
  );
});

test("a provider is opened when it is first needed, and ended with the host", async () => {
  const events: string[] = [];
  const watched = defineProvider({
    kind: "watched",
    config: z.strictObject({}),
    open: async (_settings, { name }) => {
      events.push(`opened ${name}`);
      return {
        name,
        complete: () => Promise.reject(new Error("it says nothing")),
        check: async () => ({ ok: true, detail: "there" }),
        [Symbol.asyncDispose]: async () => void events.push(`ended ${name}`),
      };
    },
  });
  const settings = { kind: "watched" };
  const used = openLateProvider("used", settings, { definitions: [watched] });
  const idle = openLateProvider("idle", settings, { definitions: [watched] });

  await used.check(AbortSignal.timeout(120_000));
  for (const provider of [used, idle]) await provider[Symbol.asyncDispose]();

  expect(events).toEqual(["opened used", "ended used"]);
});
