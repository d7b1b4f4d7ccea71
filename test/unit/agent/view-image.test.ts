import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { imageBytes } from "../../../src/domain/part.ts";
import { limits } from "../../../src/protocol/limits.ts";
import { AgentProcess } from "../../fixtures/agent/agent-process.ts";

const png = Buffer.from("\x89PNG\r\n\x1a\n and the rest", "latin1");

test("agent and host agree on how large an image may be", () => {
  expect(limits.imageBytes).toBe(imageBytes);
});

test.each([
  ["plot.png", png, "image/png"],
  ["photo", Buffer.from("\xff\xd8\xff\xe0 and the rest", "latin1"), "image/jpeg"],
  ["moving.gif", Buffer.from("GIF89a and the rest"), "image/gif"],
  ["new.webp", Buffer.from("RIFF1234WEBPVP8 "), "image/webp"],
])("%s is put into the mailbox as it is, and the result refers to it", async (name, content, mimeType) => {
  await using agent = await AgentProcess.start();
  await writeFile(join(agent.workspace, name), content);

  const [result] = await agent.useTools({ name: "view_image", input: { path: name } });

  expect(result).toMatchObject({
    output: `${agent.workspace}/${name} (${mimeType}, ${content.length} bytes):`,
    isError: false,
    parts: [{ kind: "image", name }],
  });
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
    expect.stringContaining("fake.png is no JPEG, PNG, GIF or WebP image by its content. Convert it to PNG first."),
    expect.stringContaining("and at most 3900000 can be shown. Make it smaller first."),
    expect.stringContaining("folder is not a regular file."),
    expect.stringContaining("ENOENT"),
  ]);
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
