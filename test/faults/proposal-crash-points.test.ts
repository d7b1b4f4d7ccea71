import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { test, vi } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import { crashingHost, type TestHost } from "../support/host.ts";
import { startModelHost } from "../support/model-host.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { listApprovals } from "../../src/operations/approvals/operations.ts";

/** What a change passes on its way from the answer to the file, and from there to the agent. */
const points = [
  "after:approvals.decide",
  "before:record.approval-decided",
  "before:record.instructions-changed",
  "before:approvals.noteOutcome",
  "after:approvals.noteOutcome",
  "before:groups.noteInstructions#2",
  "before:approvals.noteOutcome#2",
  "after:approvals.noteOutcome#2",
  "before:approvals.recorded",
  "after:approvals.release",
];

const model: ModelScript = ({ toolOutputs }) =>
  toolOutputs.length > 0
    ? { text: `so: ${toolOutputs.at(-1)}` }
    : { toolCalls: [{ name: "propose_instructions", input: { content: "Be brief.\n" } }] };

async function openCode(host: TestHost): Promise<string | undefined> {
  const [open] = await host.control.call(listApprovals, {});
  return open?.code;
}

const halves = [0, 1].map((half) => points.filter((_, index) => index % 2 === half));

test.concurrent.for(halves)(
  "killed at each point from the answer to the file, the host writes what was allowed, all of it and once (%#)",
  { timeout: 600_000 },
  async (crashes, { expect }) => {
    const groups = crashes.map((at, index) => ({ at, group: `group-${index}` }));
    await using running = await startModelHost(model, {
      groups: Object.fromEntries(groups.map(({ group }) => [group, {}])),
      config: { sessions: { maxHot: 2 } },
      program: crashingHost,
    });
    const { host } = running;
    const missed: string[] = [];
    const texts: string[] = [];

    for (const { at, group } of groups) {
      const propose = async () => {
        await host.say(group, "@crab do it");
        await vi.waitUntil(() => openCode(host), { timeout: 60_000, interval: 100 });
        await host.cli("approvals", "allow", (await openCode(host)) ?? "");
      };
      if (!(await host.dieAt(at, propose))) missed.push(at);
      const answers = async () =>
        (await host.replies()).filter((reply) => reply.group === group && reply.text.startsWith("so: ")).length;
      await expect.poll(answers, { timeout: 60_000, interval: 200 }).toBe(1);
      texts.push(await readFile(join(host.home, "groups", group, "AGENTS.md"), "utf8"));
    }
    const asked = jsonLines((await host.cli("approvals", "list", "--all", "--json")).stdout);

    expect(missed).toEqual([]);
    expect(texts).toEqual(crashes.map(() => "Be brief.\n"));
    const events = await host.cli("events", "tail", "--after", "0", "--type", "instructions.changed", "--json");
    const told = jsonLines(events.stdout).map((event) => String(event["group"]));
    expect(told.toSorted()).toEqual(groups.map(({ group }) => group).toSorted());
    expect(asked.map(({ outcome }) => outcome)).toEqual(crashes.map(() => "written"));
    expect(await host.cli("audit", "verify")).toMatchObject({ code: 0 });
  },
);
