import { expect, test, vi } from "vitest";

import { approvals, card, running } from "../support/asked-calls.ts";
import { clockAheadVariable } from "../support/host-options.ts";
import { shareModelHost } from "../support/shared-host.ts";

// Several starts of the host in one test.
vi.setConfig({ testTimeout: 300_000 });

const admins = { "http:ann": "admin", "http:bob": "admin", "http:bob-2": "admin" };
const as = (id: string) => ({ sender: { id, name: id } });

const hosts = shareModelHost({
  withoutContainers: "all",
  shellHere: true,
  groups: {
    voting: { members: admins, policy: { rules: [{ tool: "shell", action: "ask", quorum: 2 }] } },
    late: { members: admins, policy: { tools: { shell: "ask" } } },
  },
  config: { people: { bob: { ids: ["http:bob", "http:bob-2"], role: "admin" } } },
});

test("of a quorum, votes outlive a kill: who has voted before does not count again, by no id of theirs, and the command runs once", async () => {
  const group = hosts.group("voting", running("echo ran >> marks"));
  const { host } = group;
  const said = await group.say("@crab do it");
  const asked = await card(group);

  const first = await group.ask(`/approve ${asked.code} always`, as("bob"));
  await host.end("SIGKILL");
  await host.boot();
  const again = await group.ask(`/approve ${asked.code}`, as("bob-2"));
  await host.react({ id: "r1", group: "voting", ...as("bob"), seq: asked.seq, emoji: "👍" });
  const before = await approvals(group);
  await host.end("SIGKILL");
  await host.boot();
  await group.ask(`/approve ${asked.code}`, as("ann"));

  expect((await group.replyTo(said.id)).text).toContain("[exit code 0");
  expect([first.text, again.text]).toEqual([expect.stringContaining("1 of 2"), expect.stringContaining("1 of 2")]);
  expect(before).toMatchObject([{ code: asked.code, state: "open" }]);
  expect(await approvals(group)).toMatchObject([{ code: asked.code, state: "allowed", scope: "once" }]);
  expect(await group.readFile("marks")).toBe("ran\n");
});

test("a question whose time ends while the host is dead is a no when it starts again, whoever answers then", async () => {
  const group = hosts.group("late", running("echo ran >> marks"));
  const { host } = group;
  const said = await group.say("@crab do it");
  const asked = await card(group);
  const [open] = await approvals(group);
  await host.end("SIGKILL");
  await host.boot({ [clockAheadVariable]: String(Number(open?.expiresAt) + 1 - Date.now()) });

  const late = await group.ask(`/approve ${asked.code}`, as("ann"));

  expect((await group.replyTo(said.id)).text).toContain("nobody answered within");
  expect(late.text).toBe(`The time to answer ${asked.code} is over: it was denied.`);
  expect(await approvals(group)).toMatchObject([{ code: asked.code, state: "expired" }]);
  expect(await group.readFile("marks")).toBe("");
});
