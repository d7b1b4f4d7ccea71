import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { homePaths } from "../../../src/config/home/home.ts";
import { crabpot, jsonLines, newHome } from "../../support/crabpot.ts";
import { openStoreAt } from "../../support/open-store-at.ts";

const file =
  "groups: { home2: { channel: terminal, chat: main, main: true }, other: { channel: terminal, chat: other } }";

test("a group that was renamed in config.yaml is a warning with the command that moves its folder", async () => {
  await using place = await newHome({ "config.yaml": file });
  const { database, groups } = homePaths(place.home);
  await using store = await openStoreAt(database);
  await store.groups.claimFolder({ name: "home", channel: "terminal", chat: "main" });
  await store.groups.claimFolder({ name: "gone", channel: "terminal", chat: "other" });
  await mkdir(join(groups, "home"), { recursive: true });

  const before = await crabpot(place, "config", "check", "--json");
  await store.groups.claimFolder({ name: "home2", channel: "terminal", chat: "main" });
  await mkdir(join(groups, "home2"));
  const after = await crabpot(place, "config", "check", "--json");
  await writeFile(join(place.home, "config.yaml"), file.replace("home2", "home"));
  const taken = await crabpot(place, "config", "check", "--json");

  const [from, to] = [join(groups, "home"), join(groups, "home2")];
  const detail = 'the folder of "home" (chat main on terminal) is still there';
  expect(jsonLines(before.stdout).slice(1)).toMatchObject([
    {
      level: "warning",
      path: "groups.home2",
      detail: `group "home2" is new and has no folder; ${detail}`,
      fix: `If you renamed the group: stop the host, then mv -T ${from} ${to}`,
    },
  ]);
  expect(jsonLines(after.stdout).slice(1)).toMatchObject([
    {
      detail: `group "home2" has its own folder; ${detail}`,
      fix: `If you renamed the group: stop the host, then mv -T ${to} ${to}.new && mv -T ${from} ${to}`,
    },
  ]);
  expect(before.code).toBe(0);
  expect(jsonLines(taken.stdout).slice(1)).toMatchObject([{ path: "groups.home" }]);
});
