import { existsSync, readdirSync, readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

import { expect, test } from "vitest";

const checkout = resolve(import.meta.dirname, "../..");
const pathInText = /(?<![\w./-])(?:src|test|container|redteam|bench|scripts)\/[\w./-]*\w/g;

/** Whether a file or folder begins with the path: pages also name the files of a vitest filter. */
function isThere(path: string): boolean {
  const folder = join(checkout, dirname(path));
  return existsSync(folder) && readdirSync(folder).some((name) => name.startsWith(basename(path)));
}

test("every file and folder of the checkout that a page names is there", async () => {
  const named: { readonly page: string; readonly path: string }[] = [];
  for await (const page of glob(["*.md", "docs/**/*.md"], { cwd: checkout })) {
    // The change log names what was there once; the page on skills shows files inside a skill.
    if (page === "CHANGELOG.md" || page === "docs/skills.md") continue;
    // A guide names the files that it makes.
    const text = readFileSync(join(checkout, page), "utf8").replaceAll(/^```\w+ file=.*$/gm, "");
    for (const [path] of text.matchAll(pathInText)) named.push({ page, path });
  }

  expect(named.length).toBeGreaterThan(100);
  expect(named.filter(({ path }) => !isThere(path))).toEqual([]);
});
