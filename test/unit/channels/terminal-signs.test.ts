import { expect, test } from "vitest";

import type { Receipt } from "../../../src/channels/channel.ts";
import { openTerminalRig as openRig } from "../../support/terminal-rig.ts";

const stored: Receipt = { outcome: "stored", duplicate: false };

test("who waits for long sees it in the prompt, in place of what stood there, and keeps what is being typed", async () => {
  await using rig = openRig({ interactive: true });
  await rig.channel.start(async () => stored);
  rig.input.write("half a li");
  await expect.poll(() => rig.seen()).toContain("half a li");
  const shown = async (chat: string, sign: "queued" | "working" | "idle"): Promise<string> => {
    const before = rig.seen().length;
    await rig.channel.signal(chat, sign);
    return rig.seen().slice(before);
  };

  const queued = await shown("main", "queued");
  const working = await shown("main", "working");
  const again = await shown("main", "working");
  const both = await shown("evil\u001b[2J", "working");
  await shown("evil\u001b[2J", "idle");
  const idle = await shown("main", "idle");

  expect(queued).toMatch(/main waiting for its turn ….*› .*half a li/s);
  expect(working).toMatch(/main working ….*› .*half a li/s);
  expect(again).toBe("");
  expect(both).toMatch(/main working …, evil\\u\{1b\}\[2J working …/);
  expect(idle).not.toContain("main");
  expect(idle).toMatch(/› .*half a li/s);
  for (const line of [queued, working, both, idle]) expect(line).not.toContain("\n");
});

test.each([{ json: true, interactive: true }, { interactive: false }, { json: true }])(
  "nothing but replies is printed for programs: %j",
  async (parts) => {
    await using rig = openRig(parts);
    await rig.channel.start(async () => stored);

    for (const sign of ["queued", "working", "idle"] as const) await rig.channel.signal("main", sign);

    expect(rig.seen() + rig.hints()).toBe("");
  },
);
