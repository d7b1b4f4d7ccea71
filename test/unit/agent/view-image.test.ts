import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { originalBytes } from "../../../src/domain/chats/part.ts";
import { limits } from "../../../src/protocol/limits.ts";
import { AgentProcess } from "../../fixtures/agent/agent-process.ts";

const png = Buffer.from("\x89PNG\r\n\x1a\n and the rest", "latin1");

test("what the agent hands over, the host takes", () => {
  expect(limits.imageBytes).toBeLessThanOrEqual(originalBytes);
});

test.each([
  ["plot.png", png, "image/png"],
  ["photo", Buffer.from("\xff\xd8\xff\xe0 and the rest", "latin1"), "image/jpeg"],
  ["moving.gif", Buffer.from("GIF89a and the rest"), "image/gif"],
  ["new.webp", Buffer.from("RIFF1234WEBPVP8 "), "image/webp"],
  ["newer.heic", Buffer.from("\0\0\0\x18ftypheic"), "image/heic"],
  ["burst.heic", Buffer.from("\0\0\0\x18ftypmsf1"), "image/heic"],
  ["moving.avif", Buffer.from("\0\0\0\x18ftypavis"), "image/avif"],
  ["newest.avif", Buffer.from("\0\0\0\x18ftypavif"), "image/avif"],
])("%s is put into the mailbox as it is, and the result refers to it", async (name, content, mimeType) => {
  await using agent = await AgentProcess.start();
  await writeFile(join(agent.workspace, name), content);

  const [result, read] = await agent.useTools(
    ...["view_image", "read_file"].map((tool) => ({ name: tool, input: { path: name } })),
  );

  expect(result).toMatchObject({
    output: `${agent.workspace}/${name} (${mimeType}, ${content.length} bytes):`,
    isError: false,
    parts: [{ kind: "image", name }],
  });
  expect(read?.output).toBe(result?.output);
  const file = join(agent.mail, "to-host", "files", result?.parts?.[0]?.file ?? "");
  expect((await readFile(file)).equals(content)).toBe(true);
});

test("what is no image, too large or no file is refused with what to do", async () => {
  await using agent = await AgentProcess.start();
  await writeFile(join(agent.workspace, "fake.png"), "no image");
  await writeFile(join(agent.workspace, "large.png"), Buffer.concat([png, Buffer.alloc(limits.imageBytes)]));
  await mkdir(join(agent.workspace, "folder"));

  const results = await agent.useTools(
    ...["fake.png", "large.png", "folder", "missing.png"].map((path) => ({ name: "view_image", input: { path } })),
  );

  expect(results.every(({ isError, parts }) => isError && parts === undefined)).toBe(true);
  const outputs = results.map(({ output }) => output);
  expect(outputs).toEqual([
    expect.stringContaining(
      "fake.png is no JPEG, PNG, GIF, WebP, TIFF, HEIC or AVIF image by its content. Convert it to PNG first.",
    ),
    expect.stringContaining("and at most 16000000 can be shown. Make it smaller first."),
    expect.stringContaining("folder is not a regular file."),
    expect.stringContaining("ENOENT"),
  ]);
});

test("more than the host takes at once is refused, and what was shown before stays", async () => {
  await using agent = await AgentProcess.start();
  await writeFile(join(agent.workspace, "plot.png"), Buffer.concat([png, Buffer.alloc(15_000_000)]));
  const look = { name: "view_image", input: { path: "plot.png" } };

  const results = await agent.useTools(look, look, look, look);

  const refused = results.filter(({ isError }) => isError);
  expect(refused.map(({ output }) => output)).toEqual([
    expect.stringContaining("Too much is shown at once. Look at fewer files at a time"),
  ]);
  expect(await readdir(join(agent.mail, "to-host", "files"))).toHaveLength(3);
});

test("what no host has taken is gone when the next turn begins", async () => {
  await using agent = await AgentProcess.start();
  await writeFile(join(agent.workspace, "plot.png"), png);
  await agent.useTools({ name: "view_image", input: { path: "plot.png" } });
  const before = await readdir(join(agent.mail, "to-host", "files"));

  await agent.beginTurn();

  expect(before).toHaveLength(1);
  await expect.poll(() => readdir(join(agent.mail, "to-host"))).not.toContain("files");
});
