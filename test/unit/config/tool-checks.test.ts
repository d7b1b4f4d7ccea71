import { stringify } from "yaml";
import { expect, test } from "vitest";

import { crabpot, newHome } from "../../support/crabpot.ts";

/** `local/plain` cannot call tools; `routes` says where it is named. */
function config(routes: object, more: object = {}): string {
  const { models, ...rest } = more as { models?: object };
  return stringify({
    models: {
      routes: { main: ["offline/scripted"], ...routes },
      providers: { local: { kind: "ollama" }, offline: { kind: "offline" } },
      capabilities: { "local/plain": { tools: false } },
      ...models,
    },
    ...rest,
  });
}

const group = { channel: "terminal", chat: "family" };

test.each([
  ["the default route", config({ main: ["offline/scripted", "local/plain"] }), "models.routes.main[1]"],
  [
    "the route of a group",
    config({ small: ["local/plain", "offline/scripted"] }, { groups: { family: { ...group, model: "small" } } }),
    "models.routes.small[0]",
  ],
  [
    "the route of an agent",
    config(
      { small: ["offline/scripted", { model: "local/plain", thinking: "off" }] },
      { agents: { scout: { route: "small" } } },
    ),
    "models.routes.small[1]",
  ],
  [
    "the route of a heartbeat",
    config(
      { small: ["local/plain", "offline/scripted"] },
      { groups: { family: group }, heartbeat: { everyMinutes: 30, route: "small" } },
    ),
    "models.routes.small[0]",
  ],
])(
  "a model without tools is refused in %s, with its place and what to do, by config check and by a start",
  async (_title, text, path) => {
    await using place = await newHome({ "config.yaml": text });

    for (const command of [["config", "check"], ["start"]]) {
      const { code, stdout, stderr } = await crabpot(place, ...command);

      expect(code).not.toBe(0);
      expect(stdout + stderr).toContain(path);
      expect(stdout + stderr).toContain("local/plain cannot call tools, so it is never asked");
      expect(stdout + stderr).toContain('set models.capabilities["local/plain"].tools to true');
    }
  },
);

const chatOnly = { rules: [{ tool: "*", action: "deny" }] };
const plain = { routes: { main: ["local/plain"] } };

test.each([
  ["a group", { groups: { family: group } }, "group family works by it", 'groups.family.policy: { rules: [{ tool: "*"'],
  ["the default group", {}, "group main works by it", 'groups.main.policy: { rules: [{ tool: "*"'],
  [
    "one of a group's agents",
    {
      agents: { poet: { tools: [] }, clerk: {} },
      groups: { family: { ...group, agents: ["poet", "clerk"] } },
    },
    "group family works by it",
    "groups.family.policy",
  ],
  [
    "a group that only denies some",
    { groups: { family: { ...group, policy: { tools: { shell: "deny" }, rules: [] } } } },
    "group family works by it",
    "groups.family.policy",
  ],
])(
  "a route on which no model can call tools is refused where %s may use some, with what to write for a group that only chats",
  async (_title, more, who, fix) => {
    await using place = await newHome({ "config.yaml": config(plain.routes, more) });

    const { code, stdout, stderr } = await crabpot(place, "config", "check");

    expect(code).not.toBe(0);
    expect(stdout + stderr).toContain(
      `models.routes.main[0]: local/plain cannot call tools, and no other model of this route can: ${who}`,
    );
    expect(stdout + stderr).toContain(fix);
  },
);

test("chats that become groups later count where no group of the file works by the default route", async () => {
  const text = config(
    { main: ["local/plain"], other: ["offline/scripted"] },
    { groups: { family: { ...group, model: "other" } } },
  );
  await using place = await newHome({ "config.yaml": text });

  const { code, stdout, stderr } = await crabpot(place, "config", "check");

  expect(code).not.toBe(0);
  expect(stdout + stderr).toContain("a group works by it, and has tools");
  expect(stdout + stderr).toContain('there are to be no tools: policy: { rules: [{ tool: "*", action: deny }] }');
});

test.each([
  ["a group that may use none", config(plain.routes, { groups: { family: { ...group, policy: chatOnly } } })],
  ["where nobody may use any", config({ main: ["local/plain", "offline/scripted"] }, { policy: chatOnly })],
  [
    "an agent that may use none",
    config({ small: ["local/plain"] }, { agents: { poet: { route: "small", tools: [] } }, groups: { family: group } }),
  ],
  ["a route that no agent works by", config({ spare: ["local/plain", "offline/scripted"] })],
])("a model without tools is nobody's business for %s", async (_title, text) => {
  await using place = await newHome({ "config.yaml": text });

  const { code, stdout, stderr } = await crabpot(place, "config", "check");

  expect({ code, said: stdout + stderr }).toEqual({ code: 0, said: expect.not.stringContaining("cannot call tools") });
});
