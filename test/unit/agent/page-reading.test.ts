import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { createReadPage } from "../../../container/agent/page-reading.ts";
import { ToolOutputFolder } from "../../../container/agent/tool-output-folder.ts";
import type { GivenPage } from "../../../src/protocol/pages.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const reader = fileURLToPath(new URL("../../../container/reader/main.ts", import.meta.url));
const page: GivenPage = { file: "1.html", kind: "html", show: "markdown", url: "https://a.example/", maxChars: 100 };

/** A folder in which the host has put this, and a reader of it. */
async function given(content: string | Uint8Array, program = reader) {
  const folder = await temporaryFolder();
  await mkdir(join(folder.path, "files"));
  await writeFile(join(folder.path, "files", page.file), content);
  const outputs = new ToolOutputFolder(join(folder.path, "out"));
  const read = createReadPage({ toAgent: folder.path, reader: program, outputs });
  return {
    path: folder.path,
    read: (more: Partial<GivenPage> = {}, signal = new AbortController().signal) => read({ ...page, ...more }, signal),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

test("what a page says is shown with its title, and what is too long is in a file", async () => {
  const words = "word ".repeat(100).trim();
  await using short = await given('<title>A "b"</title><p>hello</p><p hidden>not</p>');
  await using long = await given(`<p>${words}</p>`);

  const shown = await short.read();
  const cut = await long.read();

  expect(shown).toBe('Title: "A \\"b\\""\n[3 characters that the page does not show were left out]\n\nhello');
  expect(cut).toContain(`${words.slice(0, 100)}\n[cut after 100 of 499 characters: the whole output is in `);
  expect(await readFile(join(long.path, "out/1.txt"), "utf8")).toBe(words);
});

test("text is shown as it is in its own characters, and the source where it is asked for", async () => {
  await using text = await given(Buffer.from([0x61, 0xe4]));
  await using html = await given("<p>a</p><!-- b -->");

  expect(await text.read({ kind: "text", show: "text" })).toBe("Character set: windows-1252\n\naä");
  expect(await html.read({ show: "raw" })).toBe("\n<p>a</p><!-- b -->");
});

test("a reader that breaks, or is not waited for, breaks nothing else", async () => {
  await using folder = await given("<p>x</p>");
  const hungry = join(folder.path, "hungry.mjs");
  await writeFile(hungry, "const all = []; for (;;) all.push(new Array(1e6).fill(Math.random()));");
  const idle = join(folder.path, "idle.mjs");
  await writeFile(idle, "setInterval(() => undefined, 1000);");
  await using starved = await given("<p>x</p>", hungry);
  await using slow = await given("<p>x</p>", idle);
  await using gone = await given("<p>x</p>", "/nowhere.cjs");
  const stop = new AbortController();

  const cancelled = slow.read({}, stop.signal);
  stop.abort();

  expect(await cancelled).toContain("The page could not be read (cancelled)");
  expect(await starved.read()).toMatch(/could not be read \(.+\)\. Its bytes are in .*files\/1\.html/);
  expect(await gone.read()).toContain("The page could not be read");
}, 60_000);
