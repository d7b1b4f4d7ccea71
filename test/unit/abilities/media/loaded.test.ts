import { glob, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";

import { expect, test } from "vitest";

const checkout = resolve(import.meta.dirname, "../../../..");

test("what decodes files of strangers is loaded by the media process only", async () => {
  const users: string[] = [];
  const reachInside: string[] = [];
  for await (const file of glob("src/**/*.ts", { cwd: checkout })) {
    const text = await readFile(join(checkout, file), "utf8");
    if (/(?:from|import)\s*\(?\s*"(?:sharp|heic-decode)"/.test(text)) users.push(file);
    if (/"[./]+(?:media\/)?inside\/|media-main/.test(text) && !file.startsWith("src/plugins/")) reachInside.push(file);
  }

  expect(users.toSorted()).toEqual([
    "src/abilities/media/inside/libraries.ts",
    "src/abilities/media/inside/picture.ts",
  ]);
  // The second one names the file that it starts.
  expect(reachInside.toSorted()).toEqual([
    "src/abilities/media/process/launch.ts",
    "src/abilities/media/process/media-main.ts",
  ]);
});
