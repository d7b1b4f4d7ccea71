import { expect, test, vi } from "vitest";

import { approvals, card, running } from "../support/asked-calls.ts";
import { clockAheadVariable } from "../support/host-options.ts";
import { startModelHost } from "../support/model-host.ts";

// Several starts of the host in one test.
vi.setConfig({ testTimeout: 300_000 });

const two = { rules: [{ tool: "shell", action: "ask", quorum: 2 }] };
const admins = { "http:ann": "admin", "http:bob": "admin", "http:bob-2": "admin" };
const as = (id: string) => ({ sender: { id, name: id } });

test("of a quorum, votes outlive a kill: who has voted before does not count again, by no id of theirs, and the command runs once", async () => {
  await using home = await startModelHost(running("echo ran >> marks"), {
    groups: { family: { members: admins } },
    config: { policy: two, people: { bob: { ids: ["http:bob", "http:bob-2"], role: "admin" } } },
  });
  const { host } = home;
  const said = await host.say("family", "@crab do it");
  const asked = await card(host);

  const first = await host.ask("family", `/approve ${asked.code} always`, as("bob"));
  await host.end("SIGKILL");
  await host.removeContainers();
  await host.boot();
  const again = await host.ask("family", `/approve ${asked.code}`, as("bob-2"));
  await host.react({ id: "r1", group: "family", ...as("bob"), seq: asked.seq, emoji: "👍" });
  const before = await approvals(host);
  await host.end("SIGKILL");
  await host.boot();
  await host.ask("family", `/approve ${asked.code}`, as("ann"));

  expect((await host.replyTo(said.id)).text).toContain("[exit code 0");
  expect([first.text, again.text]).toEqual([expect.stringContaining("1 of 2"), expect.stringContaining("1 of 2")]);
  expect(before).toMatchObject([{ code: asked.code, state: "open" }]);
  expect(await approvals(host)).toMatchObject([{ code: asked.code, state: "allowed", scope: "once" }]);
  expect(await host.readGroupFile("family", "marks")).toBe("ran\n");
});

test("a question whose time ends while the host is dead is a no when it starts again, whoever answers then", async () => {
  await using home = await startModelHost(running("echo ran >> marks"), {
    groups: { family: { members: admins } },
    config: { policy: { tools: { shell: "ask" } }, approvals: { expiresMinutes: 30 } },
  });
  const { host } = home;
  const said = await host.say("family", "@crab do it");
  const asked = await card(host);
  const [open] = await approvals(host);
  await host.end("SIGKILL");
  await host.boot({ [clockAheadVariable]: String(Number(open?.["expiresAt"]) + 1 - Date.now()) });

  const late = await host.ask("family", `/approve ${asked.code}`, as("ann"));

  expect((await host.replyTo(said.id)).text).toContain("nobody answered within");
  expect(late.text).toBe(`The time to answer ${asked.code} is over: it was denied.`);
  expect(await approvals(host)).toMatchObject([{ code: asked.code, state: "expired" }]);
  expect(await host.readGroupFile("family", "marks")).toBe("");
});
