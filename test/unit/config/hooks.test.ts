import { expect, test } from "vitest";

import { builtInAdapters } from "../../../src/config/adapters.ts";
import { configuredGroups, groupInEffect } from "../../../src/config/configured/groups.ts";
import { resolveGroup } from "../../../src/config/resolve-group.ts";
import { checkConfigText, describeFault, describeWarning } from "../../../src/config/loading/load.ts";

const group = "groups: { main: { channel: terminal, chat: main, trigger: always, main: true } }";

/** Faults of a configuration; empty when valid. */
function faults(text: string): string[] {
  const check = checkConfigText(text, {}, builtInAdapters);
  return check.ok ? [] : check.faults.map(describeFault);
}

test.each([
  ["hooks: { a: { group: main, secret: short } }", "hooks.a.secret"],
  ["hooks: { a: { group: main } }", "hooks.a.secret"],
  ["hooks: { a: { group: main, secret: long-enough, role: admin } }", "hooks.a.role"],
  ["hooks: { a: { group: main, secret: long-enough, key: x } }", "hooks.a"],
  ["hooks: { a/b: { group: main, secret: long-enough } }", "hooks"],
  ["hooks: { a: { group: main, secret: $HOOK_SECRET } }", "hooks.a.secret: is the text $HOOK_SECRET, not the variable"],
  ['heartbeat: { from: "08:00" }', "heartbeat.to: is missing; from and to go together"],
  ['heartbeat: { to: "08:00" }', "heartbeat.from: is missing; from and to go together"],
  ['heartbeat: { from: "08:00", to: "08:00" }', "heartbeat.to: is the same as from"],
  ['heartbeat: { from: "8:00", to: "24:00" }', "heartbeat"],
  ["heartbeat: { everyMinutes: 0 }", "heartbeat"],
  ["heartbeat: { everyMinutes: 1441 }", "heartbeat"],
  ["heartbeat: on", "heartbeat"],
  ["timezone: Europe/Pari", 'timezone: there is no time zone "Europe/Pari"; did you mean Europe/Paris?'],
  ["heartbeat: { route: man }", 'heartbeat.route: there is no route "man"; did you mean main?'],
])("%s is refused", (text, told) => {
  expect(faults(`${group}\n${text}`).join("\n")).toContain(told);
});

test("a hook may be for a group that comes by its chat, and a name that may be misspelt is warned of", () => {
  const check = checkConfigText(
    `${group}\nhooks: { a: { group: man, secret: long-enough }, b: { group: main, secret: long-enough } }`,
    {},
    builtInAdapters,
  );

  expect(check.ok && check.loaded.warnings.map(describeWarning)).toEqual([
    expect.stringContaining('warning: hooks.a.group: config.yaml has no group "man"; did you mean main?'),
  ]);
});

test("a group's heartbeat is as for everybody but for what it says itself", () => {
  const text = `
heartbeat: { from: "08:00", to: "22:00", route: main }
groups:
  plain: { channel: terminal, chat: a }
  often: { channel: terminal, chat: b, heartbeat: { everyMinutes: 5 } }
  night: { channel: terminal, chat: c, heartbeat: { from: "22:00", to: "06:00" } }
  never: { channel: terminal, chat: d, heartbeat: off }
`;
  const check = checkConfigText(text, {}, builtInAdapters);
  if (!check.ok) throw new Error(check.faults.map(describeFault).join());
  const { config } = check.loaded;

  const day = { from: "08:00", to: "22:00", route: "main" };
  expect(resolveGroup(config, { name: "plain" }).heartbeat).toEqual({ everyMinutes: 30, ...day });
  expect(resolveGroup(config, { name: "often" }).heartbeat).toEqual({ everyMinutes: 5, ...day });
  expect(resolveGroup(config, { name: "night" }).heartbeat).toEqual({
    everyMinutes: 30,
    from: "22:00",
    to: "06:00",
    route: "main",
  });
  expect(resolveGroup(config, { name: "never" }).heartbeat).toBeUndefined();
  expect(resolveGroup({ ...config, heartbeat: "off" }, { name: "plain" }).heartbeat).toBeUndefined();
  expect(resolveGroup({ ...config, heartbeat: "off" }, { name: "often" }).heartbeat).toEqual({ everyMinutes: 5 });
  const [plain] = configuredGroups(config);
  expect(plain && groupInEffect(check.loaded, plain)["heartbeat"]).toEqual({ everyMinutes: 30, ...day });
});

test("a hook's secret is known as one, so that no log shows it; without a token hooks alone may be reached from outside", () => {
  const hooks = "hooks: { a: { group: main, secret: hook-secret-1 } }";
  const check = checkConfigText(`${group}\n${hooks}`, {}, builtInAdapters);

  expect(check.ok && check.loaded.secrets).toEqual(["hook-secret-1"]);
  expect(faults(`${group}\n${hooks}\ngateway: { host: 0.0.0.0 }`)).toEqual([]);
  expect(faults(`${group}\ngateway: { host: 0.0.0.0 }`)).toHaveLength(1);
});

test("a group's zone has to be one, and is the shared one where it says nothing", () => {
  const told = faults("groups: { a: { channel: terminal, chat: a, timezone: Asia/Tokio } }");
  const text =
    "timezone: Europe/Paris\ngroups: { a: { channel: terminal, chat: a }, b: { channel: terminal, chat: b, timezone: Asia/Tokyo } }";
  const check = checkConfigText(text, {}, builtInAdapters);
  if (!check.ok) throw new Error(check.faults.map(describeFault).join());

  expect(told.join()).toContain("groups.a.timezone");
  expect(["a", "b", "nobody"].map((name) => resolveGroup(check.loaded.config, { name }).timeZone)).toEqual([
    "Europe/Paris",
    "Asia/Tokyo",
    "Europe/Paris",
  ]);
});
