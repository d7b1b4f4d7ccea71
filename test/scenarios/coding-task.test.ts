import { execFile } from "node:child_process";
import { chown, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { runsInOrder, startModelHost } from "../support/model-host.ts";
import { onDisk, temporaryFolder } from "../support/temporary-folder.ts";

const run = promisify(execFile);

/** A bare repository with a small project of two languages whose tests fail: `add` subtracts. */
async function makeRepository(folder: string): Promise<string> {
  const work = join(folder, "work");
  const bare = join(folder, "projects/site.git");
  await mkdir(join(work, "src"), { recursive: true });
  await mkdir(join(folder, "projects"));
  const files = {
    "package.json": JSON.stringify({ name: "site", type: "module" }),
    "src/add.js": "export const add = (a, b) => a - b;\n",
    "add.test.js":
      "import { test } from 'node:test';\nimport assert from 'node:assert';\nimport { add } from './src/add.js';\ntest('adds', () => assert.equal(add(2, 3), 5));\n",
    "build.py":
      "import json, pathlib\npathlib.Path('dist').mkdir(exist_ok=True)\npathlib.Path('dist/info.json').write_text(json.dumps({'built': True}))\n",
    "test_build.py":
      "import json, unittest\nclass Built(unittest.TestCase):\n    def test_info(self):\n        self.assertTrue(json.load(open('dist/info.json'))['built'])\n",
    ".gitignore": "dist/\n__pycache__/\n",
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(work, name), text);
  const git = (...args: string[]) =>
    run("git", ["-c", "user.name=Ann", "-c", "user.email=ann@example.invalid", ...args], { cwd: work });
  await git("init", "-q", "-b", "main");
  await git("add", ".");
  await git("commit", "-q", "-m", "First");
  await git("clone", "-q", "--bare", work, bare);
  return bare;
}

/** Gives a folder to an ordinary user when the tests run as root, whose folders are never mounted for writing. */
async function giveAway(folder: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  for (const entry of await readdir(folder, { recursive: true })) await chown(join(folder, entry), 1234, 1234);
  await chown(folder, 1234, 1234);
}

test("a coding task works under the default profile: clone, mend, build and test with Node and Python, commit, push", async () => {
  await using folder = await temporaryFolder(onDisk);
  const bare = await makeRepository(folder.path);
  await giveAway(join(folder.path, "projects"));
  const commands = [
    "cd /workspace/group && git clone -q /workspace/extra/site.git site && cd site && node --test 2>&1 | grep -E '(pass|fail) [0-9]'",
    `sed -i 's/a - b/a + b/' src/add.js && node --test 2>&1 | grep -E '(pass|fail) [0-9]'`,
    "python3 -m venv --without-pip ~/venv && ~/venv/bin/python build.py && ~/venv/bin/python -m unittest 2>&1 | tail -1",
    "git checkout -q -b mended && git commit -qam 'Mend add' && git push -q origin mended && git status --short && echo pushed",
  ];
  const mounts = [{ source: bare, target: "site.git", access: "rw" }];
  await using running = await startModelHost(runsInOrder(...commands), {
    process: "shared",
    groups: { family: { mounts } },
    mounts: { roots: [{ path: join(folder.path, "projects"), access: "rw" }] },
  });

  const { text } = await running.host.ask("family", "@crab mend the site");

  expect(text).toMatch(/fail 1[\s\S]*pass 1[\s\S]*fail 0/);
  expect(text).toMatch(/^OK$/m);
  expect(text).toMatch(/^pushed$/m);
  const log = await run("git", ["-c", "safe.directory=*", "--git-dir", bare, "log", "--format=%an: %s", "mended"]);
  expect(log.stdout.trim().split("\n")).toEqual(["crabpot agent: Mend add", "Ann: First"]);
});
