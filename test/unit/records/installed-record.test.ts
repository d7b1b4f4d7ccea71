import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { pino } from "pino";
import { expect, test } from "vitest";

import { homePaths } from "../../../src/config/home/home.ts";
import type { NewEvent } from "../../../src/domain/events/event.ts";
import { installedServers } from "../../../src/abilities/mcp/packages/lock-file.ts";
import { installedSkills } from "../../../src/abilities/skills/install/lock-file.ts";
import { installedPlugins } from "../../../src/plugins/install/lock-file.ts";
import { InstalledRecord } from "../../../src/records/installed-record.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const sha256 = "a".repeat(64);
const other = "b".repeat(64);

function mcpLock(hash: string): string {
  const installed = {
    wanted: "pkg@1.0.0",
    package: "pkg",
    version: "1.0.0",
    integrity: "sha512-x",
    sha256: hash,
    start: "node_modules/pkg/main.js",
    installedAt: "2026-01-01T00:00:00Z",
  };
  return JSON.stringify({ version: 1, servers: { files: { package: installed }, wiki: {} } });
}

async function openRig() {
  const folder = await temporaryFolder();
  const told: NewEvent[] = [];
  const paths = homePaths(folder.path);
  let isFailing = false;
  const record = new InstalledRecord({
    file: join(paths.root, "installed.json"),
    logger: pino({ level: "silent" }),
    publish: async (event) => {
      if (isFailing) throw new Error("the disk is full");
      told.push(event);
    },
  });
  record.follow("plugin", () => installedPlugins(paths.pluginLock));
  record.follow("skill", () => installedSkills(paths.skillLock));
  record.follow("mcp", () => installedServers(paths.mcpLock));
  const look = (fail = false): Promise<void> => {
    isFailing = fail;
    return record.look();
  };
  return {
    told,
    look,
    write: (name: string, text: string) => writeFile(join(folder.path, name), text),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

test("what was installed while no host ran is told at its next start, once, and so is what is replaced or gone", async () => {
  await using rig = await openRig();
  await rig.look();
  expect(rig.told).toEqual([]);

  await rig.write("mcp.lock", mcpLock(sha256));
  await Promise.all([rig.look(), rig.look()]);
  await rig.look();
  expect(rig.told.splice(0)).toEqual([
    {
      type: "mcp.installed",
      actor: "host",
      data: { server: "files", package: "pkg", version: "1.0.0", integrity: "sha512-x", sha256 },
    },
  ]);

  await rig.write("mcp.lock", mcpLock(other));
  await rig.look();
  await rig.write("mcp.lock", JSON.stringify({ version: 1, servers: {} }));
  await rig.look();
  expect(rig.told).toMatchObject([
    { type: "mcp.installed", data: { sha256: other } },
    { type: "installed.changed", data: { kind: "mcp", name: "files", change: "removed", sha256: other } },
  ]);
});

test("what could not be put on record is told the next time, and a lock that cannot be read is no news", async () => {
  await using rig = await openRig();
  await rig.write("mcp.lock", mcpLock(sha256));
  await rig.look(true);
  await rig.look();
  await rig.write("mcp.lock", "{");
  await rig.look();

  expect(rig.told).toHaveLength(1);
});
