import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

import { expect, test } from "vitest";

const checkout = resolve(import.meta.dirname, "../../../..");

/** Loads a module in its own process and prints which files of memories were loaded with it. */
async function loadedWith(module: string): Promise<string[]> {
  const program = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    await import(${JSON.stringify(join(checkout, module))});
    console.log(JSON.stringify(loaded));
    process.exit();`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], {
    maxBuffer: 16 * 1024 * 1024,
  });
  return (JSON.parse(stdout) as string[]).flatMap((url) => url.split(`${checkout}/src/abilities/memory/`)[1] ?? []);
}

test("a host whose groups remember nothing loads nothing that remembers", async () => {
  const definitions = /^(?:ability|config|item|tools\/memory-\w+)\.ts$/;
  const loaded = await loadedWith("src/host/host.ts");

  expect(loaded).toContain("ability.ts");
  expect(loaded.filter((file) => !definitions.test(file))).toEqual([]);
});

test("a host whose groups remember leaves searching and files to the thread", async () => {
  const loaded = await loadedWith("src/abilities/memory/loaded-memories.ts");

  expect(loaded).toContain("keeping/memory-writer.ts");
  expect(loaded.filter((file) => /^(?:file|index|search|text)\//.test(file))).toEqual([]);
});
