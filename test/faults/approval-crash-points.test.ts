import { expect, test, vi } from "vitest";

import type { TestHost } from "../support/host.ts";
import { groupOf, startMortalHost } from "../support/model-host.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { answerApproval, listApprovals } from "../../src/operations/approvals/operations.ts";

/** Points of a turn before its question, */
const asking = [
  "before:record.approval-asked",
  "before:turns.addStep#1",
  "after:turns.addStep#1",
  "before:mailbox.cancel",
  "after:mailbox.cancel",
];
/** and from the answer to the command; behind the last two of them nobody knows whether it has run. */
const answered = [
  "before:record.approval-answered",
  "before:approvals.decide",
  "after:approvals.decide",
  "before:record.approval-decided",
  "after:approvals.recorded",
  "before:record.approval-used",
  "before:approvals.release",
];
const released = ["after:approvals.release", "before:mailbox.model-response#1", "after:mailbox.model-response#1"];
const points = [...asking, ...answered, ...released];

const model: ModelScript = (request) => {
  const [, id = "nothing"] = /group-(\d+)/.exec(groupOf(request)) ?? [];
  const result = request.toolOutputs.at(-1);
  if (result !== undefined) return { text: `so: ${result}` };
  return { toolCalls: [{ name: "shell", input: { command: `echo ${id} >> runs` } }] };
};

async function openCodes(host: TestHost): Promise<string[]> {
  const asked = await host.control.call(listApprovals, { group: undefined, all: false });
  return asked.map(({ code }) => code);
}

/** Answers whatever waits, until the host is gone or nothing does. */
async function allowAll(host: TestHost): Promise<void> {
  for (const code of await openCodes(host))
    await host.control.call(answerApproval, { code, decision: "allow", scope: "once" });
}

test("killed at each point from the question to the command, the host asks on, and runs what was allowed once or not at all", async () => {
  const groups = points.map((at, index) => ({ at, group: `group-${index}` }));
  await using running = await startMortalHost(model, {
    groups: Object.fromEntries(groups.map(({ group }) => [group, {}])),
    config: { policy: { tools: { shell: "ask" } }, sessions: { maxHot: 2 } },
  });
  const { host } = running;
  const missed: string[] = [];

  for (const { at, group } of groups) {
    const isAsked = async () => (await openCodes(host)).length > 0;
    const answer = async () => {
      await host.say(group, "@crab do it");
      if (asking.includes(at)) return;
      await vi.waitUntil(isAsked, { timeout: 120_000, interval: 10 });
      await allowAll(host);
    };
    if (!(await host.dieAt(at, answer))) missed.push(at);
    const isAnswered = async () => {
      await allowAll(host);
      return (await host.replies()).filter((reply) => reply.group === group && reply.text.startsWith("so: ")).length;
    };
    await expect.poll(isAnswered, { timeout: 120_000, interval: 10 }).toBe(1);
  }
  const runs = await Promise.all(points.map((_at, index) => host.readGroupFile(`group-${index}`, "runs")));
  const asked = await host.control.call(listApprovals, { group: undefined, all: true });

  expect(missed).toEqual([]);
  // Behind the mark that it was given out nobody knows whether it has run.
  const isRight = (run: string | undefined, index: number) =>
    run === `${index}\n` || (run === "" && released.includes(points[index] ?? ""));
  expect(runs.filter((run, index) => !isRight(run, index))).toEqual([]);
  expect(asked.filter(({ state }) => state === "open")).toEqual([]);
  expect(await host.cli("audit", "verify")).toMatchObject({ code: 0 });
}, 600_000);
