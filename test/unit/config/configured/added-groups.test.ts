import { expect, test } from "vitest";

import { withAddedGroups } from "../../../../src/config/configured/added-groups.ts";
import { builtInAdapters } from "../../../../src/config/adapters.ts";
import { storedGroup } from "../../../../src/config/configured/groups.ts";
import { resolveGroup } from "../../../../src/config/resolve-group.ts";
import { type ConfigInput, configSchema } from "../../../../src/config/schema/config.ts";
import type { StoredGroup } from "../../../../src/domain/chats/group.ts";

function configOf(input: ConfigInput) {
  return { config: configSchema(builtInAdapters).parse(input), adapters: builtInAdapters };
}

function club(settings: StoredGroup["settings"], name = "club"): StoredGroup {
  return { name, channel: "terminal", chat: name, settings };
}

test("a group that was added at run time has its own settings, and the others from those for everybody", () => {
  const base = configOf({ policy: { tools: { shell: "deny" } }, budgets: { perGroup: { tokensPerDay: 900_000 } } });
  const own = club({
    trigger: "always",
    policy: { tools: { read_file: "deny" } },
    network: { allow: ["a.example:443"] },
  });

  const { config, added, refused } = withAddedGroups(base, [own, club({ main: true }, "plain")], {});

  expect([[...added], refused.size]).toEqual([["club"], 0]);
  expect(storedGroup(config, own)).toMatchObject({
    trigger: "always",
    origin: "store",
    budget: { tokensPerDay: 900_000 },
  });
  const denied = (name: string): string[] =>
    resolveGroup(config, { name }).policy.rules.flatMap(({ action, tools = [] }) => (action === "deny" ? tools : []));
  expect([denied("club"), denied("plain")]).toEqual([["read_file", "shell"], ["shell"]]);
  expect(storedGroup(config, club({ main: true }, "plain"))).toMatchObject({ main: true });
  expect(resolveGroup(config, { name: "club" }).network.allow).toEqual(["a.example:443"]);
});

test("groups that cannot be used with a configuration are left out, each with its reason, and the others are not", () => {
  const stored = [
    club({ model: "cheap" }, "one"),
    club({ policy: { tools: { shel: "deny" } } }, "two"),
    club({ secrets: { KEY: { value: "${NOT_SET}", hosts: ["a.example:443"] } } }, "three"),
    club({ catchUpMinutes: 5 }, "four"),
    // config.yaml has this name, and this chat.
    club({ catchUpMinutes: 5 }, "main"),
  ];

  const { added, refused } = withAddedGroups(configOf({}), stored, {});

  expect([...added]).toEqual(["four"]);
  expect([...refused].map(([name, faults]) => [name, faults.map(({ path }) => path)])).toEqual([
    ["one", ["groups.one.model"]],
    ["two", ["groups.two.policy.tools.shel"]],
    ["three", ["groups.three.secrets.KEY.value"]],
  ]);
});
