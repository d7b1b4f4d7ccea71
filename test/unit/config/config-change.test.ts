import * as fc from "fast-check";
import { expect, test } from "vitest";

import { builtInAdapters } from "../../../src/config/adapters.ts";
import { changeEffects } from "../../../src/config/changes/change-effects.ts";
import { differences, planChange } from "../../../src/config/changes/config-change.ts";
import { crossCheck } from "../../../src/config/checks/cross-checks.ts";
import { hashOfConfig } from "../../../src/config/changes/config-hash.ts";
import { configJsonSchema } from "../../../src/config/schema/json-schema.ts";
import { type Config, type ConfigInput, configSchema } from "../../../src/config/schema/config.ts";

const schema = configSchema(builtInAdapters);

/** Arbitrary configurations with something in each section, of few values so that they often agree. */
const written: fc.Arbitrary<ConfigInput> = fc.record(
  {
    assistant: fc.record({ name: fc.constantFrom("crab", "claw") }),
    timezone: fc.constantFrom("UTC", "Europe/Paris"),
    models: fc.record({ attempts: fc.integer({ min: 1, max: 3 }) }),
    budgets: fc.record({ total: fc.record({ usdPerDay: fc.integer({ min: 1, max: 3 }) }) }),
    policy: fc.record({ tools: fc.dictionary(fc.constantFrom("shell", "read"), fc.constantFrom("allow", "deny")) }),
    channels: fc.record({ terminal: fc.constant({}), http: fc.constant({}) }, { requiredKeys: ["terminal"] }),
    groups: fc.dictionary(
      fc.constantFrom("one", "two", "three"),
      fc.record({
        channel: fc.constantFrom("terminal", "http"),
        chat: fc.constantFrom("a", "b"),
        main: fc.boolean(),
      }),
    ),
    gateway: fc.record({ port: fc.constantFrom(0, 7788), token: fc.constant("token-0123456789") }),
    sandbox: fc.record({ runtime: fc.constantFrom("runc", "runsc"), pids: fc.constantFrom(64, 128) }),
    sessions: fc.record({ maxHot: fc.integer({ min: 1, max: 2 }), holdMinutes: fc.constantFrom(5, 6) }),
    intake: fc.record({ reserveMb: fc.constantFrom(64, 65) }),
    limits: fc.record({ maxSteps: fc.constantFrom(10, 20) }),
    store: fc.record({ retentionDays: fc.record({ replies: fc.constantFrom(90, 91) }) }),
    events: fc.record({ retentionDays: fc.constantFrom(7, 8) }),
    log: fc.record({ level: fc.constantFrom("info", "debug"), containerMb: fc.constantFrom(64, 65) }),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<ConfigInput>;

const config: fc.Arbitrary<Config> = written
  .map((input) => schema.parse(input))
  .filter((parsed) => crossCheck(parsed, builtInAdapters).length === 0);

/** Settings that are fixed until a restart. */
const fixed = ({ channels, gateway, sandbox, sessions, log }: Config): unknown => [
  channels,
  gateway,
  sandbox.runtime,
  sessions.maxHot,
  log.containerMb,
];

test("whatever is changed, it holds at once, but for what needs a restart, and that is named", () => {
  fc.assert(
    fc.property(config, config, (running, wanted) => {
      const { effective, now, restart } = planChange(running, wanted);

      expect(crossCheck(effective, builtInAdapters)).toEqual([]);
      expect(fixed(effective)).toEqual(fixed(running));
      const again = planChange(effective, wanted);
      expect(again).toMatchObject({ now: [], restart });
      expect(again.effective).toEqual(effective);
      expect(now).toEqual(differences(running, effective));
      const needs = /^(channels|gateway|sandbox\.runtime|sessions\.maxHot|log\.containerMb|groups)\b/;
      expect(restart.filter((path) => !needs.test(path))).toEqual([]);
      for (const { channel } of Object.values(effective.groups))
        expect(Object.keys(running.channels)).toContain(channel);
      // The record of a change says the same as that of a start with the file.
      const isWhole = restart.length === 0;
      expect(hashOfConfig(effective) === hashOfConfig(wanted)).toBe(isWhole);
    }),
  );
});

test("a file that says what already runs changes nothing", () => {
  fc.assert(
    fc.property(config, (running) => {
      const { effective, now, restart } = planChange(running, structuredClone(running));

      expect({ effective, now, restart }).toEqual({ effective: running, now: [], restart: [] });
    }),
  );
});

test("every key of config.yaml is said to take effect now or with a restart, and no other", () => {
  const { properties } = configJsonSchema(builtInAdapters) as { properties: Record<string, { properties?: object }> };
  const table: Readonly<Record<string, unknown>> = changeEffects;

  expect(Object.keys(table).toSorted()).toEqual(Object.keys(properties).toSorted());
  for (const [section, effect] of Object.entries(table).filter(([, found]) => typeof found !== "string")) {
    expect(Object.keys(effect as object).toSorted()).toEqual(
      Object.keys(properties[section]?.properties ?? {}).toSorted(),
    );
  }
});

test("a change is told by the path of what differs, of what came or went as a whole, and never by its value", () => {
  const running = schema.parse({
    groups: { one: { channel: "terminal", chat: "a" }, gone: { channel: "terminal", chat: "g" } },
  });
  const secret = { value: "canary-value-123", hosts: ["a.example:443"] };
  const one = { channel: "terminal", chat: "a", main: true, secrets: { API: secret } };
  const wanted = schema.parse({
    groups: { one, fresh: { channel: "terminal", chat: "f" } },
    channels: { terminal: {}, http: {} },
  });

  const { now, restart } = planChange(running, wanted);

  expect(now.toSorted()).toEqual(["groups.fresh", "groups.gone", "groups.one.main", "groups.one.secrets.API"]);
  expect(restart).toEqual(["channels.http"]);
});
