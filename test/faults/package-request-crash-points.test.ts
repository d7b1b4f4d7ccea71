import { randomBytes } from "node:crypto";

import { afterAll, expect, test, vi } from "vitest";

import type { TestHost } from "../support/host.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { startMortalHost } from "../support/model-host.ts";
import { packageMirror, removeImagesWith } from "../support/package-mirror.ts";
import { listApprovals } from "../../src/operations/approvals/operations.ts";
import { getSetting } from "../../src/operations/settings/operations.ts";
import { answerApproval } from "../../src/operations/approvals/operations.ts";

/** Points of a package request from the answer to the settings and the agent. */
const points = [
  "after:approvals.decide",
  "before:record.approval-decided",
  "before:approvals.noteOutcome",
  "after:approvals.noteOutcome",
  "before:settings.record",
  "after:settings.record",
  "before:approvals.noteOutcome#2",
  "after:approvals.noteOutcome#2",
  "before:approvals.recorded",
  "after:approvals.release",
];

const name = `greets-${randomBytes(4).toString("hex")}`;

afterAll(() => removeImagesWith(name));

const model: ModelScript = ({ toolOutputs }) =>
  toolOutputs.length > 0
    ? { text: `so: ${toolOutputs.at(-1)}` }
    : { toolCalls: [{ name: "request_packages", input: { npm: [name] } }] };

async function openCode(host: TestHost): Promise<string | undefined> {
  const [open] = await host.control.call(listApprovals, {});
  return open?.code;
}

async function imageOf(host: TestHost, group: string): Promise<unknown> {
  return host.control.call(getSetting, { path: `groups.${group}.image` });
}

test("killed at each point from the answer to the settings, the host asks for the packages that were allowed, once", async () => {
  await using mirror = await packageMirror({ npm: { [name]: { "index.js": "module.exports = 'greetings';" } } });
  const groups = points.map((at, index) => ({ at, group: `group-${index}` }));
  await using running = await startMortalHost(model, {
    groups: Object.fromEntries(groups.map(({ group }) => [group, {}])),
    config: { sessions: { maxHot: 2 } },
    variables: mirror.variables,
  });
  const { host } = running;
  const missed: string[] = [];
  const images: unknown[] = [];

  for (const { at, group } of groups) {
    const request = async () => {
      await host.say(group, "@crab do it");
      await vi.waitUntil(() => openCode(host), { timeout: 120_000, interval: 10 });
      await host.control.call(answerApproval, { code: (await openCode(host)) ?? "", decision: "allow", scope: "once" });
    };
    if (!(await host.dieAt(at, request))) missed.push(at);
    // The image may be built first.
    const answers = async () =>
      (await host.replies()).filter((reply) => reply.group === group && reply.text.startsWith("so: ")).length;
    await expect.poll(answers, { timeout: 240_000, interval: 10 }).toBe(1);
    images.push(await imageOf(host, group));
  }
  const asked = await host.control.call(listApprovals, { group: undefined, all: true });

  expect(missed).toEqual([]);
  expect(images).toMatchObject(points.map(() => ({ value: { npm: [name] } })));
  expect(asked.map((one) => "outcome" in one && one.outcome)).toEqual(points.map(() => "written"));
  expect(await host.cli("audit", "verify")).toMatchObject({ code: 0 });
}, 900_000);
