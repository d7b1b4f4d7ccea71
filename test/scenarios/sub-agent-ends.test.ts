import { expect, test } from "vitest";

import { groupOf, startWithoutContainers } from "../support/model-host.ts";
import { shareModelHost } from "../support/shared-host.ts";
import { isSubAgent, runsOnce, family, spawnsAll } from "../support/sub-agent-family.ts";
import { listSubAgents } from "../../src/abilities/sub-agents/operations.ts";

const hosts = shareModelHost({
  process: "shared",
  groups: {
    guests: {
      members: { default: "member", "http:gus": "guest" },
      policy: {
        rules: [
          { tool: "shell", role: "guest", action: "deny" },
          { tool: "write_file", origin: "agent", action: "deny" },
        ],
      },
    },
    asking: { policy: { tools: { shell: "ask" } } },
  },
  withoutContainers: ["guests"],
});

test("a sub-agent of a guest may do no more than the guest, and what it has read counts for its parent", async () => {
  const group = hosts.group("guests", (request) => {
    const results = request.messages.filter(({ role }) => role === "tool").map(({ text }) => text);
    if (isSubAgent(request)) {
      if (results.length > 0) return { text: `child: ${results.join(" ")}` };
      return { toolCalls: [{ name: "shell", input: { command: "echo ran" } }] };
    }
    if (results.length === 0) return { toolCalls: [{ name: "spawn_agent", input: { task: "run it" } }] };
    if (results.length === 1) return { toolCalls: [{ name: "write_file", input: { path: "washed", content: "x" } }] };
    return { text: `so: ${results.join(" ")}` };
  });

  const ofGuest = await group.ask("@crab do it", { sender: { id: "gus", name: "Gus" } });

  expect(ofGuest.text).toMatch(/child: Error: .*does not allow .*shell/);
  expect(ofGuest.text).toMatch(/does not allow .*write_file/);
  expect(await group.readFile("washed")).toBe("");
  expect(await group.host.control.call(listSubAgents, { group: "guests", all: true })).toMatchObject([
    { role: "guest" },
  ]);
});

test("a call of a sub-agent that needs an approval is asked in the chat for that sub-agent, and runs when it is allowed", async () => {
  const group = hosts.group("asking", family(spawnsAll({}), runsOnce("echo ran")));
  const { host } = group;
  const said = await group.say("@crab do it");
  const cards = async () => (await group.replies()).filter(({ text }) => /Code [0-9A-Z]{6}/.test(text));
  await expect.poll(async () => (await cards()).length).toBe(1);
  const [card] = await cards();
  const [, code = ""] = /Code ([0-9A-Z]{6})/.exec(card?.text ?? "") ?? [];

  await host.cli("approvals", "allow", code);
  const reply = await group.replyTo(said.id);

  const [sub] = await host.control.call(listSubAgents, { group: "asking", all: true });
  expect(card?.text).toContain(`"${sub?.id} a sub-agent" (http:ann)`);
  expect(reply.text).toContain("child: ran");
});

test("a group with 20 sub-agents gets no more than its share while another one waits", async () => {
  const order: string[] = [];
  await using running = await startWithoutContainers(
    (request) => {
      if (isSubAgent(request)) {
        order.push(groupOf(request));
        return { text: "done" };
      }
      const results = request.messages.filter(({ role }) => role === "tool");
      if (results.length > 0) return { text: `so: ${results.filter(({ text }) => text.includes("is done")).length}` };
      const count = groupOf(request) === "many" ? 20 : 1;
      return {
        toolCalls: Array.from({ length: count }, (_, index) => ({
          name: "spawn_agent",
          input: { task: `do ${index}` },
        })),
      };
    },
    {
      groups: { many: {}, one: {} },
      config: { limits: { turnsPerHour: 0, loopTurns: 0, subAgents: { atOnce: 20 } }, sessions: { maxHot: 1 } },
    },
  );
  const { host } = running;
  const many = await host.say("many", "@crab do it");
  await expect.poll(() => order.length).toBeGreaterThan(0);

  const one = await host.ask("one", "@crab do it");
  const before = order.indexOf("one");
  const all = await host.replyTo(many.id, { waitSeconds: 240 });

  expect(one.text).toBe("so: 1");
  expect(before).toBeLessThan(5);
  expect(all.text).toBe("so: 20");
}, 400_000);
