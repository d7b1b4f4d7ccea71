import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { openStoreReader } from "../../../src/stores/catalog.ts";
import { makeOlderStore } from "../../support/older-store.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

test("a store of an earlier version is not read, and stays as it is", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "crabpot.sqlite");
  await makeOlderStore(path);
  const before = await readFile(path);

  await expect(openStoreReader({ path })).rejects.toMatchObject({
    code: "store_failed",
    message: `The store ${path} was written by an earlier version of crabpot; this one cannot read it.`,
    fix: "start the host, which brings it up to date",
  });

  expect((await readFile(path)).equals(before)).toBe(true);
});
