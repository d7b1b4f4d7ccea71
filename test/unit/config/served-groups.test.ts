import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import pino from "pino";
import { expect, test } from "vitest";

import { prepareHome } from "../../../src/config/home/home.ts";
import { GroupFolders } from "../../../src/intake/chats/group-folders.ts";
import { takeFolders } from "../../../src/config/serving/served-groups.ts";
import { someGroup } from "../../support/some-group.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { openStoreAt } from "../../support/open-store-at.ts";

test("a start with a renamed group says once where the folder of its chat is", async () => {
  await using folder = await temporaryFolder();
  const home = await prepareHome(join(folder.path, "home"));
  await using store = await openStoreAt(home.paths.database);
  const place = (name: string): string => join(home.paths.groups, name);
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  const folders = new GroupFolders({
    store: store.groups,
    exists: () => Promise.resolve(false),
    make: async ({ name }) => void (await mkdir(place(name), { recursive: true })),
    hasMemories: () => Promise.resolve(false),
    adopting: () => Promise.resolve(),
  });
  const start = (name: string) =>
    takeFolders({ store: store.groups, folders, place: home.paths.groups, logger }, [
      someGroup(name, { chat: "main" }),
    ]);

  await start("before");
  const quiet = lines.length;
  await start("after");
  await start("after");

  expect([quiet, lines.length]).toEqual([0, 1]);
  expect(lines[0]).toContain('the folder of \\"before\\" (chat main on fake) is still there');
  expect(lines[0]).toContain(
    `stop the host, then mv -T ${place("after")} ${place("after")}.new && mv -T ${place("before")} `,
  );
});
