import { execFile } from "node:child_process";
import { mkdir, readFile, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { AgentProcess } from "../../fixtures/agent/agent-process.ts";

test("a file is written, with the folders that it needs, and read back with line numbers", async () => {
  await using agent = await AgentProcess.start();

  const written = await agent.useTool("write_file", { path: "a/b/c.txt", content: "one\r\ntwo\n\nfour" });
  const read = await agent.useTool("read_file", { path: "a/b/c.txt" });

  expect(written).toEqual({ output: `Wrote 14 bytes to ${agent.workspace}/a/b/c.txt.`, isError: false });
  expect(read.output).toBe("     1\tone\n     2\ttwo\n     3\t\n     4\tfour");
  expect(await readFile(join(agent.workspace, "a/b/c.txt"), "utf8")).toBe("one\r\ntwo\n\nfour");
});

test("relative paths begin where the shell stands, and ~ is the home", async () => {
  await using agent = await AgentProcess.start();
  await agent.shell("mkdir inner; cd inner; echo here > file; echo home > ~/file");

  expect((await agent.useTool("read_file", { path: "file" })).output).toBe("     1\there");
  expect((await agent.useTool("read_file", { path: "~/file" })).output).toBe("     1\thome");
});

test("a long file is read in parts, each saying where to go on", async () => {
  await using agent = await AgentProcess.start();
  await agent.shell("seq 1 5000 > numbers");

  const first = await agent.useTool("read_file", { path: "numbers" });
  const part = await agent.useTool("read_file", { path: "numbers", offset: 4_999, limit: 1 });
  const last = await agent.useTool("read_file", { path: "numbers", offset: 5_000 });
  const beyond = await agent.useTool("read_file", { path: "numbers", offset: 5_001 });

  expect(first.output.endsWith("  2000\t2000\n[lines 1 to 2000; there are more, go on with offset 2001]")).toBe(true);
  expect(part.output).toBe("  4999\t4999\n[lines 4999 to 4999; there are more, go on with offset 5000]");
  expect(last.output).toBe("  5000\t5000");
  expect(beyond).toEqual({ output: `${agent.workspace}/numbers has only 5000 lines.`, isError: true });
});

test("wide lines and huge files cost neither room nor memory", async () => {
  await using agent = await AgentProcess.start();
  await agent.shell("for i in 1 2 3 4 5 6 7 8 9; do head -c 5000 /dev/zero | tr '\\0' x; echo; done > wide");
  await truncate(join(agent.workspace, "wide"), 60_000);

  const wide = await agent.useTool("read_file", { path: "wide" });

  expect(wide.output.length).toBeLessThanOrEqual(30_000);
  expect(wide.output).toMatch(/x \[… 1000 bytes more\]\n\[lines 1 to 7; there are more, go on with offset 8\]$/);
});

test("what is no text file is refused instead of read for ever", async () => {
  await using agent = await AgentProcess.start();
  await promisify(execFile)("mkfifo", [join(agent.workspace, "pipe")]);
  await mkdir(join(agent.workspace, "folder"));
  await writeFile(join(agent.workspace, "binary"), Buffer.from([1, 0, 2]));
  await writeFile(join(agent.workspace, "empty"), "");
  const bitmap = Buffer.alloc(54);
  bitmap.write("BM6");
  await writeFile(join(agent.workspace, "shot.bmp"), bitmap);

  const results = await agent.useTools(
    ...["pipe", "folder", "/dev/zero", "binary", "shot.bmp", "absent", "empty"].map((path) => ({
      name: "read_file",
      input: { path },
    })),
    { name: "write_file", input: { path: "pipe", content: "x" } },
  );

  expect(results.map(({ output }) => output)).toEqual([
    expect.stringContaining("pipe is not a regular file"),
    expect.stringContaining("folder is not a regular file"),
    expect.stringContaining("/dev/zero is not a regular file"),
    expect.stringContaining("binary is a binary file of 3 bytes."),
    expect.stringContaining("shot.bmp is a picture in BMP of 54 bytes. Convert it to PNG to look at it."),
    expect.stringContaining("ENOENT"),
    "[the file is empty]",
    expect.stringContaining("write_file failed: ENXIO"),
  ]);
});

test("text that is not UTF-8 is converted where it says what it is, and otherwise told", async () => {
  await using agent = await AgentProcess.start();
  const text = "\ufeffKäse\nКраб";
  await writeFile(join(agent.workspace, "le"), Buffer.from(text, "utf16le"));
  await writeFile(join(agent.workspace, "be"), Buffer.from(text, "utf16le").swap16());
  await writeFile(join(agent.workspace, "old"), Buffer.from("Käse", "latin1"));

  const [le, be, old] = await agent.useTools(
    ...["le", "be", "old"].map((path) => ({ name: "read_file", input: { path } })),
  );

  expect([le?.output, be?.output]).toEqual(Array(2).fill("     1\tKäse\n     2\tКраб"));
  expect(old?.output).toMatch(/^ {5}1\tK\ufffdse\n\[some bytes are not UTF-8 .*iconv/);
});

test("text is replaced where it stands exactly once, or everywhere when asked", async () => {
  await using agent = await AgentProcess.start();
  const path = join(agent.workspace, "file");
  await writeFile(path, "a $& b a");
  const edit = (input: object) => agent.useTool("edit_file", { path: "file", ...input });

  const twice = await edit({ old_text: "a", new_text: "x" });
  const never = await edit({ old_text: "absent", new_text: "x" });
  const once = await edit({ old_text: "$& b", new_text: "$1 $& c" });
  const all = await edit({ old_text: "a", new_text: "longer", replace_all: true });

  expect(twice).toMatchObject({ isError: true, output: expect.stringContaining("stands 2 times") as string });
  expect(never).toMatchObject({ isError: true, output: expect.stringContaining("does not stand in") as string });
  expect(once).toEqual({ isError: false, output: `Replaced 1 occurrence in ${path}.` });
  expect(all).toEqual({ isError: false, output: `Replaced 2 occurrences in ${path}.` });
  expect(await readFile(path, "utf8")).toBe("longer $1 $& c longer");
});

test("an edit that makes a file shorter leaves nothing of the old end, and no other bytes are touched", async () => {
  await using agent = await AgentProcess.start();
  const path = join(agent.workspace, "file");
  await writeFile(path, "\u{feff}keep\r\nlong long text\r\n");
  await agent.useTool("edit_file", { path: "file", old_text: "long long text", new_text: "-" });
  await writeFile(join(agent.workspace, "latin"), Buffer.from([0x61, 0xff]));

  const latin = await agent.useTool("edit_file", { path: "latin", old_text: "a", new_text: "b" });

  expect(await readFile(path, "utf8")).toBe("\u{feff}keep\r\n-\r\n");
  expect(latin).toMatchObject({ isError: true, output: expect.stringContaining("is not UTF-8") as string });
});

test("a folder is listed as a sorted tree to the depth asked for", async () => {
  await using agent = await AgentProcess.start();
  await agent.shell("mkdir -p b/c/d node_modules/x .git/y; touch a b/file b/c/deep node_modules/x/z");
  await symlink("a", join(agent.workspace, "link"));

  const listing = await agent.useTool("list_files", {});
  const deeper = await agent.useTool("list_files", { path: "b", depth: 3 });

  expect(listing.output.split("\n")).toEqual([
    agent.workspace,
    "  .git/",
    "  a",
    "  b/",
    "    c/",
    "    file",
    "  link -> a",
    "  node_modules/",
  ]);
  expect(deeper.output.split("\n").slice(1)).toEqual(["  c/", "    d/", "    deep", "  file"]);
});

test("a folder with more entries than can be shown is listed in part", async () => {
  await using agent = await AgentProcess.start();
  await agent.shell("mkdir many; cd many; seq 1 3000 | xargs touch");

  const { output } = await agent.useTool("list_files", { path: "." });

  expect(output.split("\n")).toHaveLength(1_002);
  expect(output).toContain("[more than 1000 entries");
});
