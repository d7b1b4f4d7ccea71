import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import { eventsOf } from "../support/host-records.ts";
import { startWithoutContainers } from "../support/model-host.ts";
import { skillRepository } from "../support/skill-repository.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { readStatus } from "../../src/operations/host/operations.ts";

test("a host asks the source of a skill when its week is over, tells a main group of another version once, and installs nothing", async () => {
  await using folder = await temporaryFolder();
  const repository = await skillRepository(folder.path);
  await repository.write({ tea: "Boil." });
  const groups = { ops: { main: true, skills: "all" } };
  await using running = await startWithoutContainers(() => ({ text: "ok" }), { groups });
  const { host } = running;
  const week = { version: 1, next: "2020-01-01T00:00:00.000Z", isAnnounced: true };
  await writeFile(join(host.home, "skill-sync.json"), JSON.stringify(week));
  const statusOf = async () => (await host.control.call(readStatus, {})).outdatedSkills;
  const synced = () => eventsOf(host, "skills.synced");

  const before = await statusOf();
  await host.cli("skills", "install", repository.address, "--yes");
  await repository.write({ tea: "Boil it." });
  await host.ask("ops", "@crab hello");
  await expect.poll(async () => (await synced()).length).toBe(1);
  const told = async () => (await host.replies()).filter(({ text }) => text.includes("new versions of tea"));
  await expect.poll(async () => (await told()).length).toBe(1);
  const outdated = await statusOf();
  const { stdout: shown } = await host.cli("status");
  const listed = jsonLines((await host.cli("skills", "sync", "--json")).stdout);
  await host.end("SIGKILL");
  await host.boot();
  await host.ask("ops", "@crab hello");
  await host.cli("skills", "update", "--yes");

  expect([before, outdated, await statusOf()]).toEqual([[], ["tea"], []]);
  expect(shown).toContain("new version of tea: crabpot skills update");
  expect(listed).toMatchObject([{ name: "tea", state: "outdated" }]);
  expect(await synced()).toMatchObject([{ actor: "host", data: { asked: 1, news: ["tea"], failed: [] } }]);
  expect(await told()).toMatchObject([{ group: "ops", kind: "notice" }]);
  expect((await host.cli("audit", "verify")).code).toBe(0);
});
