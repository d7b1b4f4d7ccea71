import { EventEmitter, once } from "node:events";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";

import pino from "pino";
import { expect, test } from "vitest";

import { ConfigWatch } from "../../../src/config/changes/config-watch.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

test("each change of a watched file is told, however it is made", async () => {
  await using folder = await temporaryFolder();
  const at = (name: string): string => join(folder.path, name);
  await mkdir(at("elsewhere"));
  await writeFile(at("elsewhere/mounts.json"), "{}");
  await writeFile(at("config.yaml"), "a: 1");
  const told = new EventEmitter();
  const files = [at("config.yaml"), at("mounts.json")];
  const replace = async (name: string, text: string): Promise<void> => {
    await writeFile(at("new"), text);
    await rename(at("new"), at(name));
  };
  const changes: readonly (() => Promise<unknown>)[] = [
    () => writeFile(at("config.yaml"), "a: 2"),
    () => replace("config.yaml", "a: 3"),
    () => writeFile(at("config.yaml"), "a: 4"),
    async () => {
      await writeFile(at("database"), "changes all the time");
      await writeFile(at("mounts.json"), "{}");
    },
    () => writeFile(at("mounts.json"), "[]"),
    () => rm(at("config.yaml")),
    () => writeFile(at("config.yaml"), "a: 5"),
    () => rm(at("mounts.json")),
    () => symlink(at("elsewhere/mounts.json"), at("mounts.json")),
    () => writeFile(at("elsewhere/mounts.json"), "[1]"),
    () => replace("elsewhere/mounts.json", "[2]"),
    async () => {
      await writeFile(at("database"), "again");
      await setImmediate();
      await rm(at("mounts.json"));
      await symlink(at("elsewhere/mounts.json"), at("mounts.json"));
    },
    () => writeFile(at("elsewhere/mounts.json"), "[3]"),
    () => replace("mounts.json", "{}"),
  ];
  let times = 0;
  await using watch = new ConfigWatch({
    files,
    changed: () => {
      times += 1;
      told.emit("changed");
    },
    logger: pino({ enabled: false }),
  });
  await once(told, "changed");

  for (const change of changes) {
    const next = once(told, "changed");
    await change();
    await next;
  }

  expect(times).toBeGreaterThanOrEqual(1 + changes.length);
  expect(watch).toBeDefined();
});
