import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { textFunctions } from "../support/text-functions.ts";

const checkout = resolve(import.meta.dirname, "../..");
const runner = join(checkout, "test/fixtures/linear/run-functions.ts");

/** Files whose functions are not run, with the reason; and functions by their names. */
const leftOut: Readonly<Record<string, string>> = {
  "src/config/": "reads the operator's own configuration",
  "src/surfaces/cli/": "reads what the operator writes",
  memoryPath: "joins a path of a name that was checked; Node's own join takes the square of `../`",
  mailFolderOf: "the same of a session's id, which is the host's own",
  scratchFolderOf: "the same of a session's id, which is the host's own",
  readRow: "reads the table of commands beside it",
};

/** Pieces that hostile texts repeat: each begins something, or ends it again and again. */
const pieces = [" ", "\n", "a ", "[*", "_", "<a ", "$(", "../", '{"a":', "a.a@", "*a", "```\n"];

/** Runs functions of a folder over hostile texts, in a process that can write nothing and starts nothing. */
async function runFunctions(folder: string, within: string): Promise<{ faults: string[]; targets: number }> {
  const targets = textFunctions(folder, within).filter(
    ({ file, name }) => !Object.keys(leftOut).some((one) => file.startsWith(one) || name === one),
  );
  const order = JSON.stringify({ checkout: folder, targets, pieces, length: 3_000, mostTimes: 6 });
  const permissions = ["--permission", "--allow-fs-read=*", "--allow-addons", "--no-warnings"];
  const { stdout } = await promisify(execFile)(process.execPath, [...permissions, runner, order]);
  const { faults } = JSON.parse(stdout) as { readonly faults: string[] };
  return { faults, targets: targets.length };
}

test("no function of the host over text takes more than linear time for it, whatever it holds", async () => {
  const { faults, targets } = await runFunctions(checkout, "src");

  expect(faults).toEqual([]);
  expect(targets).toBeGreaterThan(200);
});

test("finds a function that begins anew at each place of a text", async () => {
  await using folder = await temporaryFolder();
  await writeFile(
    join(folder.path, "planted.ts"),
    `export function linear(text: string): number { return text.split("*").length; }
     export const squared = (text: string, least = 1): number => text.replace(/\\*[^]*?!!/g, "").length - least;
     export function ends(bytes: Uint8Array): number[] {
       return Array.from(bytes, (_, at) => bytes.subarray(at).findLastIndex((byte) => byte === 1));
     }`,
  );

  const { faults } = await runFunctions(folder.path, ".");

  expect(faults).toEqual(['planted.ts: squared at "[*"', expect.stringMatching(/^planted\.ts: ends at /)]);
});
