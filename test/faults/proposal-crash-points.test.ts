import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test, vi } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import type { TestHost } from "../support/host.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { startMortalHost } from "../support/model-host.ts";
import { answerApproval, listApprovals } from "../../src/operations/approvals/operations.ts";

/** Points of a change from the answer to the file and the agent. */
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
  const [open] = await host.control.call(listApprovals, { group: undefined, all: false });
  return open?.code;
}

test("killed at each point from the answer to the file, the host writes what was allowed, all of it and once", async () => {
  const groups = points.map((at, index) => ({ at, group: `group-${index}` }));
  await using running = await startMortalHost(model, {
    groups: Object.fromEntries(groups.map(({ group }) => [group, {}])),
    config: { sessions: { maxHot: 2 } },
  });
  const { host } = running;
  const missed: string[] = [];
  const texts: string[] = [];

  for (const { at, group } of groups) {
    const propose = async () => {
      await host.say(group, "@crab do it");
      await vi.waitUntil(() => openCode(host), { timeout: 120_000, interval: 10 });
      await host.control.call(answerApproval, { code: (await openCode(host)) ?? "", decision: "allow", scope: "once" });
    };
    if (!(await host.dieAt(at, propose))) missed.push(at);
    const answers = async () =>
      (await host.replies()).filter((reply) => reply.group === group && reply.text.startsWith("so: ")).length;
    await expect.poll(answers, { timeout: 120_000, interval: 10 }).toBe(1);
    texts.push(await readFile(join(host.home, "groups", group, "AGENTS.md"), "utf8"));
  }
  const asked = await host.control.call(listApprovals, { group: undefined, all: true });

  expect(missed).toEqual([]);
  expect(texts).toEqual(points.map(() => "Be brief.\n"));
  const events = await host.cli("events", "tail", "--after", "0", "--type", "instructions.changed", "--json");
  const told = jsonLines(events.stdout).map((event) => String(event["group"]));
  expect(told.toSorted()).toEqual(groups.map(({ group }) => group).toSorted());
  expect(asked.map((one) => "outcome" in one && one.outcome)).toEqual(points.map(() => "written"));
  expect(await host.cli("audit", "verify")).toMatchObject({ code: 0 });
}, 600_000);
