import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { withNamesOfNode } from "../../../scripts/steps/names-of-node.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const run = promisify(execFile);

/** Imports of these modules, as esbuild counts them. */
function importsOf(...paths: string[]) {
  return paths.map((path) => ({ path, kind: "import-statement", external: true }));
}

/** Output of a module that imports Node's own modules. */
async function printedBy(text: string, ...paths: string[]): Promise<string> {
  await using folder = await temporaryFolder();
  const program = join(folder.path, "program.mjs");
  await writeFile(program, withNamesOfNode(text, importsOf(...paths)));
  return (await run(process.execPath, [program])).stdout.trim();
}

test("a built program has the same names of Node, in every way that it can ask for them", async () => {
  const modules = ["node:process", "node:path", "path", "node:url", "node:util", "node:child_process", "node:http"];
  const text = `import process from "node:process";
import * as all from "node:path";
import {
  basename,
  join as put
} from "path";
import url, { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { execFile, spawnSync as spawnNow } from "node:child_process";
import { Agent } from "node:http";
class OfOurs extends Agent {}
var __require = typeof require !== "undefined" ? require : undefined;
console.log(process.pid > 0, all.sep, put("a", basename("/x/b")), url.fileURLToPath === fileURLToPath);
console.log(new OfOurs() instanceof Agent, spawnNow("echo", ["now"]).stdout.toString().trim());
console.log((await promisify(execFile)("echo", ["later"])).stdout.trim(), __require("node:os").EOL === "\\n");
`;

  const printed = await printedBy(text, ...modules);

  expect(printed).toBe("true / a/b true\ntrue now\nlater true");
});

test("what is long to load is loaded when it is first used, and nothing is looked at that is not asked for", async () => {
  const modules = ["node:crypto", "node:process", "node:http"];
  const text = `import { randomBytes } from "node:crypto";
import process from "node:process";
import { createServer } from "node:http";
const isLoaded = (name) => process.moduleLoadList.includes("NativeModule " + name);
const before = ["crypto", "http", "internal/deps/undici/undici", "internal/util/trace_sigint"].filter(isLoaded);
console.log(before.length, randomBytes(3).length, isLoaded("crypto"), isLoaded("http"));
`;

  const printed = await printedBy(text, ...modules);

  expect(printed).toBe("0 3 true false");
});

test("modules of others stay imports, and what only looks like one in a text stays as it is", () => {
  const others = 'import { a } from "./chunk.mjs";\nimport sqlite from "better-sqlite3";\n';
  const text = "const text = `say:\n  import fs from 'node:fs';`;\n";

  expect(withNamesOfNode(others + text, importsOf("better-sqlite3"))).toBe(`${others}${text}`);
});

test("a text that cannot be told from an import ends the build", () => {
  const text = 'const example = `\nimport fs from "node:fs";\n`;\n';

  expect(() => withNamesOfNode(text, [])).toThrow("counts 0 imports of Node's modules where 1 were found");
});
