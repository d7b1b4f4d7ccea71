import { expect, test } from "vitest";

import { builtInAdapters } from "../../../src/config/adapters.ts";
import { LiveConfig } from "../../../src/config/changes/live-config.ts";
import { resolveGroup } from "../../../src/config/resolve-group.ts";
import { type ConfigInput, configSchema } from "../../../src/config/schema/config.ts";
import { routeFor } from "../../../src/domain/settings/resolved-group.ts";

const family = { channel: "terminal", chat: "family" } as const;

function parse(config: ConfigInput) {
  return configSchema(builtInAdapters).parse(config);
}

test("a running host resolves a group once for each configuration, and a turn keeps what it got", () => {
  const live = new LiveConfig(parse({ groups: { family }, timezone: "Europe/Paris" }));
  const before = live.groupOf({ name: "family" });

  expect(live.groupOf({ name: "family" })).toBe(before);
  live.replace(parse({ groups: { family }, timezone: "Asia/Tokyo" }));
  expect([before.timeZone, live.groupOf({ name: "family" }).timeZone]).toEqual(["Europe/Paris", "Asia/Tokyo"]);
});

test("each agent of a group, and a main group, has a record that differs in what is the agent's and the main group's", () => {
  const agents = { scout: { name: "Scout", instructions: "Look.", skills: ["maps"], tools: ["read_file"] } };
  const config = parse({
    agents,
    groups: { family: { ...family, agents: ["main", "scout"] } },
    sessions: { visibility: "all" },
  });
  Object.freeze(config);
  const [first, scout] = [undefined, "scout"].map((agent) => resolveGroup(config, { name: "family", agent }));

  expect(first?.agent).toMatchObject({ id: "main", name: "crab", instructions: undefined, skills: undefined });
  expect(scout?.agent).toMatchObject({ id: "scout", name: "Scout", instructions: "Look.", skills: ["maps"] });
  expect(scout?.policy.rules[0]?.name).toBe("tools of agent scout");
  expect([first?.agents, scout?.agents]).toEqual([
    ["main", "scout"],
    ["main", "scout"],
  ]);
  expect([false, true].map((main) => resolveGroup(config, { name: "family", main }).sessionVisibility)).toEqual([
    "group",
    "all",
  ]);
});

test("a session works by the route of its profile, then by that of its kind, then by its group's", () => {
  const heartbeat = { everyMinutes: 30, route: "cheap" };
  const agent = { id: "main", name: "crab", instructions: undefined, skills: undefined, route: undefined };
  const group = { model: "good" };

  expect(routeFor({ agent, heartbeat }, group, "main")).toBe("good");
  expect(routeFor({ agent, heartbeat }, group, "heartbeat")).toBe("cheap");
  expect(routeFor({ agent: { ...agent, route: "own" }, heartbeat }, group, "heartbeat")).toBe("own");
});
