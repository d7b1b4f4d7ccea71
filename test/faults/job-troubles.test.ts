import { afterAll, expect, test } from "vitest";

import { containerTroubles } from "../support/container-troubles.ts";
import { groupOf, type ModelHost, startModelHost } from "../support/model-host.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { calls } from "../support/sub-agent-family.ts";
import { listJobs } from "../../src/abilities/jobs/operations.ts";
import { listWork } from "../../src/operations/work/operations.ts";

const groups = ["working", "idle", "late"] as const;
type Group = (typeof groups)[number];

const ofJob = /<work cause="job-ended"[^>]*>([^]*?)<\/work>/g;

/**
 * Begins a job; in the group `working` its turn goes on with a command that does not end. Then says all that it was
 * told about jobs.
 */
const model: ModelScript = (request) => {
  const { lastText, messages } = request;
  const group = groupOf(request);
  const told = [
    ...messages
      .map(({ text }) => text)
      .join("\n")
      .matchAll(ofJob),
  ].map(([, text]) => text);
  const isAsked = lastText.includes("begin");
  if (isAsked && group === "late") return calls("shell", { command: "sleep 3; echo finished", timeout_s: 1 });
  if (isAsked) return calls("shell", { command: "sleep 1000", background: true });
  if (group === "working" && !messages.some(({ text }) => text.includes("interrupted"))) {
    return calls("shell", { command: "echo yes > begun; sleep 600" });
  }
  return { text: `told ${told.length}: ${told.join("\n")} ${request.toolOutputs.join("\n")}` };
};

/** A host for all, with a group for each. */
const running: ModelHost = await startModelHost(model, {
  process: "shared",
  groups: Object.fromEntries(groups.map((group) => [group, {}])),
});
afterAll(() => running[Symbol.asyncDispose]());
const { host } = running;

const jobsOf = (group: Group) => host.control.call(listJobs, { group, all: true, limit: 100 });
const workOf = (group: Group) => host.control.call(listWork, { group, limit: 100 });

test("a job whose container is killed in the middle of its turn is lost, and that turn is told about it, once", async () => {
  const said = await host.say("working", "@crab begin");
  await expect.poll(() => host.readGroupFile("working", "begun")).toBe("yes\n");
  await expect.poll(async () => (await jobsOf("working")).length).toBe(1);

  await containerTroubles.killed(await host.containerOf("working"));
  const reply = await host.replyTo(said.id);
  const again = await host.ask("working", "@crab and now");

  expect(reply.text).toMatch(/^told 1: Background job job-\w+ was lost after \d+ s: its container has ended/);
  expect(again.text).toMatch(/^told 1: /);
  expect(await jobsOf("working")).toMatchObject([{ state: "lost" }]);
  expect(await workOf("working")).toMatchObject([{ cause: "job-ended", state: "settled" }]);
  expect((await host.replies()).filter(({ group }) => group === "working")).toHaveLength(2);
});

test("a job whose container is killed while nothing else runs is lost, and its agent gets a turn that is told, once", async () => {
  const first = await host.ask("idle", "@crab begin");

  await containerTroubles.killed(await host.containerOf("idle"));
  const told = async () =>
    (await host.replies()).filter(({ group, text }) => group === "idle" && text.startsWith("told 1"));
  await expect.poll(told).toHaveLength(1);
  await host.ask("idle", "@crab and now");

  expect(first.text).toMatch(/^told 0:/);
  expect(await jobsOf("idle")).toMatchObject([{ state: "lost" }]);
  expect(await workOf("idle")).toMatchObject([{ cause: "job-ended", state: "settled" }]);
});

test("a command that reaches its time goes on as a job, and its agent is told how it ended", async () => {
  const first = await host.ask("late", "@crab begin");
  const told = async () =>
    (await host.replies()).filter(({ group, text }) => group === "late" && text.startsWith("told 1"));
  await expect.poll(told).toHaveLength(1);
  const [later] = await told();

  expect(first.text).toMatch(/^told 0:[^]*job-\w+/);
  expect(later?.text).toMatch(/Background job job-\w+ has ended after \d+ s: exit code 0[^]*finished/);
  expect(await jobsOf("late")).toMatchObject([{ state: "exited", exitCode: 0, command: "sleep 3; echo finished" }]);
});
