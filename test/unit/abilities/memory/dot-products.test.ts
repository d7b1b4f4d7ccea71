import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { temporaryFolder } from "../../../support/temporary-folder.ts";

const checkout = resolve(import.meta.dirname, "../../../..");
const source = join(checkout, "src/abilities/memory/index/vectors/dot-products");

test("the program that multiplies vectors is what its text says", async () => {
  await using folder = await temporaryFolder();
  const made = join(folder.path, "made.wasm");

  await promisify(execFile)(join(checkout, "node_modules/.bin/wat2wasm"), [`${source}.wat`, "-o", made]);

  expect((await readFile(`${source}.wasm`)).equals(await readFile(made))).toBe(true);
});
