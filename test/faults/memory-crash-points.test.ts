import { join } from "node:path";

import { expect, test, vi } from "vitest";

import { MemoryFile } from "../../src/memory/file/memory-file.ts";
import type { Memory } from "../../src/memory/item.ts";
import { startModelHost } from "../support/model-host.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";

/** What a message passes from the log to the memory, and from there to a fact. */
const points = [
  "before:messages.following",
  "after:messages.following",
  "before:outbox.saidIn",
  "after:outbox.saidIn",
  "before:record.memory-extracted",
  "after:record.memory-extracted",
];

/** Draws one fact of what was said. */
const model: ModelScript = ({ system, lastText }) => {
  if (!system.includes("lasting facts")) return { text: "noted" };
  const source = /<message id="([^"]+)" from="[^"]*" time/.exec(lastText)?.[1] ?? "";
  const fact = { text: "Ann likes tea", category: "core", sources: [source] };
  return { text: JSON.stringify({ facts: lastText.includes("<fact ") ? [] : [fact] }) };
};

test("killed at each point between a message and its fact, the host keeps both once, the fact with a source that is there", async () => {
  const crashes = points.map((at, index) => ({ at, group: `group-${index}` }));
  await using running = await startModelHost(model, {
    groups: Object.fromEntries(crashes.map(({ group }) => [group, {}])),
    config: { memory: { enabled: true, embeddings: "none", extract: { everyMessages: 1 } } },
  });
  const { host } = running;
  await host.end("SIGTERM");
  const listed = (group: string): readonly Memory[] => {
    using file = MemoryFile.open(join(host.home, "memory", `${group}.sqlite`));
    return [...file.all()];
  };
  const missed: string[] = [];

  for (const { at, group } of crashes) {
    // At its start the host reads of each group once.
    const isRead = at.endsWith("following") || at.endsWith("saidIn");
    host.launch({ CRABPOT_CRASH_AT: isRead ? `${at}#${points.length + 1}` : at });
    await host.isReadyWithin(60_000);
    await host.say(group, "@crab I like tea").catch(() => undefined);
    await vi.waitUntil(() => !host.isRunning, { timeout: 60_000, interval: 5 }).catch(() => missed.push(at));
    await host.end("SIGKILL");
    await host.boot();
    await expect
      .poll(() => listed(group).filter(({ category }) => category === "core"), { timeout: 60_000 })
      .toHaveLength(1);
    await host.end("SIGTERM");
  }

  expect(missed).toEqual([]);
  for (const { group } of crashes) {
    const memories = listed(group);
    const said = memories.filter(({ category }) => category === "conversation");
    expect(said.map(({ text }) => text).toSorted()).toEqual(["@crab I like tea", "noted"]);
    const [fact] = memories.filter(({ category }) => category === "core");
    expect(fact?.sources.every((source) => said.some(({ sources }) => sources.includes(source)))).toBe(true);
    expect(fact?.sources).toHaveLength(1);
  }
}, 600_000);
