import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterAll, expect, test, vi } from "vitest";

import { crashingHost, type TestHost } from "../support/host.ts";
import { startModelHost } from "../support/model-host.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { onDisk, temporaryFolder } from "../support/temporary-folder.ts";
import { answerApproval, listApprovals } from "../../src/operations/approvals/operations.ts";

const run = promisify(execFile);
const owner = 4321;

/** Points from the end of the turn to the files and what is said about them. */
const points = [
  "before:turns.finish",
  "after:turns.finish",
  "after:approvals.decide",
  "before:record.approval-decided",
  "before:approvals.recorded",
  "before:record.review-begun",
  "before:approvals.noteOutcome",
  "after:approvals.noteOutcome",
  "before:record.review-ended",
  "before:approvals.endReview",
  "after:approvals.endReview",
];

const model: ModelScript = ({ toolOutputs }) =>
  toolOutputs.length > 0
    ? { text: "done" }
    : {
        toolCalls: [
          { name: "shell", input: { command: "cd /workspace/extra/site; echo a >> a; echo b >> b; rm gone" } },
        ],
      };

const projects = await temporaryFolder(onDisk);
afterAll(() => projects[Symbol.asyncDispose]());

async function openCodes(host: TestHost, group: string): Promise<string[]> {
  const open = await host.control.call(listApprovals, { group, all: false });
  return open.map(({ code }) => code);
}

test("killed at each point from the card to the files, the host asks once and applies once", async () => {
  const groups = points.map((at, index) => ({ at, group: `group-${index}`, folder: join(projects.path, `${index}`) }));
  for (const { folder } of groups) {
    await mkdir(folder);
    await writeFile(join(folder, "gone"), "x");
    await run("chown", ["-R", `${owner}:${owner}`, folder]);
  }
  await using running = await startModelHost(model, {
    program: crashingHost,
    groups: Object.fromEntries(
      groups.map(({ group, folder }) => [group, { mounts: [{ source: folder, target: "site", access: "review" }] }]),
    ),
    mounts: { roots: [{ path: projects.path, access: "rw" }] },
    config: { sessions: { maxHot: 2 }, policy: { tools: { shell: "allow" } } },
  });
  const { host } = running;
  const missed: string[] = [];
  const found: string[] = [];

  for (const { at, group, folder } of groups) {
    // Whoever gets no answer from a host that dies says it again.
    const decide = async () => {
      for (const code of await openCodes(host, group))
        await host.control.call(answerApproval, { code, decision: "allow", scope: "once" }).catch(() => undefined);
    };
    const applied = async () => {
      await decide();
      return (await host.replies()).filter((one) => one.group === group && / has applied /.test(one.text)).length;
    };
    const work = async () => {
      await host.say(group, "@crab do it");
      await vi.waitUntil(async () => (await applied()) > 0, { timeout: 40_000, interval: 100 });
    };
    if (!(await host.dieAt(at, work))) missed.push(at);
    await expect.poll(applied, { timeout: 40_000, interval: 100 }).toBe(1);
    const cards = (await host.replies()).filter((one) => one.group === group && one.text.includes("Code "));
    const text = async (name: string) => readFile(join(folder, name), "utf8").catch(() => "-");
    found.push(`${at}: ${cards.length} ${await text("a")}${await text("b")}${await text("gone")}`);
  }

  expect(missed).toEqual([]);
  expect(found).toEqual(points.map((at) => `${at}: 1 a\nb\n-`));
  expect(await host.cli("audit", "verify")).toMatchObject({ code: 0 });
}, 900_000);
