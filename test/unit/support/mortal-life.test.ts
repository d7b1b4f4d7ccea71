import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { MortalLife } from "../../support/mortal-life.ts";
import { openTestStore } from "../../support/open-test-store.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

test("from its death on a host changes nothing and is refused what it waits for, but answers from memory", async () => {
  await using folder = await temporaryFolder();
  await using opened = await openTestStore();
  const home = join(folder.path, "home");
  await mkdir(home);
  await writeFile(join(home, "file"), "as it was");
  const life = new MortalLife(home, undefined);
  const store = life.intercept((containers) => containers).store(opened.store);

  life.end();
  await writeFile(join(home, "file"), "changed");
  const rewrites = store.erasure.rewrites();
  const probed = store.messages.waitingTotal(1);

  expect(rewrites).toBe(0);
  await expect(probed).rejects.toThrow("this host is dead");
  await life.bury();
  expect(await readFile(join(home, "file"), "utf8")).toBe("as it was");
});
