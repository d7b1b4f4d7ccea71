import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";

import { expect, test } from "vitest";

import { startModelHost } from "../support/model-host.ts";
import { shareModelHost } from "../support/shared-host.ts";
import { pngOf } from "../support/picture-files.ts";
import type { ModelServerRequest } from "../support/model-servers/model-server.ts";
import { listTurns } from "../../src/operations/turns/operations.ts";

const png = pngOf("a plot");
const seeing = { capabilities: { "gpt/test-model": { vision: true } } };
const hosts = shareModelHost({
  groups: { drawing: {}, blind: { model: "blind" } },
  models: { ...seeing, routes: { main: ["gpt/test-model"], blind: ["gpt/blind-model"] } },
});

/** The one picture that this home has, as models are shown it. */
async function onlyBlob(
  home: string,
): Promise<{ readonly sha256: string; readonly content: Buffer; readonly part: object }> {
  const files = (await readdir(join(home, "blobs"), { recursive: true })).filter((name) => name.includes("/"));
  const [file = ""] = files;
  expect(files).toHaveLength(1);
  const content = await readFile(join(home, "blobs", file));
  const sha256 = createHash("sha256").update(content).digest("hex");
  expect(basename(file)).toBe(sha256);
  const url = `data:image/png;base64,${content.toString("base64")}`;
  return { sha256, content, part: { type: "image_url", image_url: { url } } };
}

function conversationOf(request: ModelServerRequest | undefined): readonly { role: string; content: unknown }[] {
  const body = request?.body as { messages: { role: string; content: unknown }[] } | undefined;
  return body?.messages ?? [];
}

test("the agent looks at its own plot, and the model is shown the same in all prompts that follow", async () => {
  const calls = [
    { name: "shell", input: { command: `echo ${png.toString("base64")} | base64 -d > plot.png` } },
    { name: "view_image", input: { path: "plot.png" } },
  ];
  const group = hosts.group("drawing", ({ messages, lastText }) => {
    if (lastText.includes("again")) return { text: "Still there." };
    const call = calls[messages.filter(({ role }) => role === "tool").length];
    return call ? { toolCalls: [call] } : { text: "A line that goes up." };
  });
  const { host } = group;

  expect((await group.ask("@crab draw a plot")).text).toContain("A line that goes up.");
  await host.end("SIGKILL");
  await host.boot();
  expect((await group.ask("@crab again")).text).toContain("Still there.");
  const { sha256, content, part } = await onlyBlob(host.home);

  const [, , third, fourth] = group.requests.map(conversationOf);
  expect(third?.at(-2)).toMatchObject({
    role: "tool",
    content: `/workspace/group/plot.png (image/png, ${png.length} bytes):\n[an image, shown below]`,
  });
  expect(third?.at(-1)).toEqual({
    role: "user",
    content: [{ type: "text", text: expect.stringMatching(/^\[from the result of the call \S+\]$/) }, part],
  });
  expect(fourth?.slice(0, third?.length)).toEqual(third);

  const turns = await host.control.call(listTurns, { group: "drawing", state: undefined, limit: 20 });
  const shown = (await host.cli("turns", "show", String(turns.at(-1)?.id))).stdout;
  expect(shown).toContain(`[image: plot.png, image/png, ${content.length} bytes, ${sha256.slice(0, 12)}]`);
  const mail = await readdir(join(host.home, "sessions"), { recursive: true });
  expect(mail.filter((name) => /\/files\/./.test(name))).toEqual([]);
});

test("a model that cannot see is not offered to look at images", async () => {
  const group = hosts.group("blind", () => ({ text: "Hello." }));

  await group.ask("@crab hello");

  expect(group.requests[0]?.tools).toContain("read_file");
  expect(group.requests[0]?.tools).not.toContain("view_image");
});

test("a tool of the host shows an image that never goes through the container", async () => {
  const program = join(import.meta.dirname, "../fixtures/tools/camera-host.ts");
  const calls = [png.toString("latin1"), "no picture"].map((picture) => ({ name: "camera", input: { picture } }));
  await using running = await startModelHost(
    ({ messages }) => {
      const call = calls[messages.filter(({ role }) => role === "tool").length];
      return call ? { toolCalls: [call] } : { text: "Nice." };
    },
    { models: seeing, program },
  );
  const { host, model } = running;

  expect((await host.ask("family", "@crab smile")).text).toContain("Nice.");
  const { part } = await onlyBlob(host.home);

  const messages = conversationOf(model.requests.at(-1));
  expect(messages.filter(({ role }) => role === "tool").map(({ content }) => content)).toEqual([
    "Click!\n[an image, shown below]",
    "Error: The image picture.png cannot be shown: it is no JPEG, PNG, GIF, WebP, TIFF, HEIC or AVIF picture.",
  ]);
  expect(
    messages.find(({ role, content }) => role === "user" && JSON.stringify(content).includes("[from"))?.content,
  ).toEqual(expect.arrayContaining([part]));
});
