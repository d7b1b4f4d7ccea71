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
    // The page on skills shows files inside a skill.
    if (page === "docs/skills.md") continue;
    // A guide names the files that it makes.
    const text = readFileSync(join(checkout, page), "utf8").replaceAll(/^```\w+ file=.*$/gm, "");
    for (const [path] of text.matchAll(pathInText)) named.push({ page, path });
  }

  expect(named.length).toBeGreaterThan(100);
  expect(named.filter(({ path }) => !isThere(path))).toEqual([]);
});

test("every page in docs/ is on one of the four shelves of its index", async () => {
  const index = readFileSync(join(checkout, "docs/README.md"), "utf8");
  const shelves = index.split(/^## /m).slice(1);
  const shelved = shelves.flatMap((shelf) => [...shelf.matchAll(/\]\(([\w./-]+\.md)\)/g)].map(([, path = ""]) => path));
  const pages: string[] = [];
  for await (const page of glob("**/*.md", { cwd: join(checkout, "docs") })) if (page !== "README.md") pages.push(page);

  expect(shelves.map((shelf) => shelf.split("\n")[0])).toEqual(["Use it", "Operate it", "Change it", "Why"]);
  expect(shelved.toSorted()).toEqual(pages.toSorted());
});

test("links between pages lead to pages that exist", async () => {
  const broken: string[] = [];
  for await (const page of glob(["*.md", "docs/**/*.md"], { cwd: checkout })) {
    const text = readFileSync(join(checkout, page), "utf8");
    for (const [, path = ""] of text.matchAll(/\]\(([\w./-]+\.md)(?:#[\w-]+)?\)/g))
      if (!existsSync(join(checkout, dirname(page), path))) broken.push(`${page}: ${path}`);
  }

  expect(broken).toEqual([]);
});

test.for([
  ["README.md", 150],
  ["CHANGELOG.md", 80],
] as const)("%s has at most %d lines", ([page, most]) => {
  expect(readFileSync(join(checkout, page), "utf8").trimEnd().split("\n").length).toBeLessThanOrEqual(most);
});
