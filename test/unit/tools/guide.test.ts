import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

import { expect, test } from "vitest";

import type { CallEnvironment } from "../../../container/agent/tools/tool.ts";
import { countWords } from "../../fixtures/guides/count-words.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const checkout = resolve(import.meta.dirname, "../../..");
const files = ["roll-dice.ts", "dice-host.ts", "count-words.ts"];

test("the code of the guide is that of the files that are run here", async () => {
  const guide = await readFile(join(checkout, "docs/guides/add-a-tool.md"), "utf8");

  const blocks = [...guide.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code]) => code);

  const sources = files.map((file) => readFile(join(checkout, "test/fixtures/guides", file), "utf8"));
  expect(blocks).toEqual(await Promise.all(sources));
});

test("the guide's tool of the container counts words, and says what is wrong with its input", async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "notes"), "one two\n three\n");
  const paths = { home: folder.path, workingDirectory: () => folder.path };
  const place = { paths } as unknown as CallEnvironment;

  expect(await countWords.run({ path: "notes" }, place)).toBe("3 words");
  await expect(countWords.run({ file: "notes" }, place)).rejects.toThrow("The input of count_words is wrong: path: ");
  await expect(countWords.run({ path: "." }, place)).rejects.toThrow("is not a regular file");
});
