import { join } from "node:path";

import { test } from "vitest";

import { MemoryFile } from "../../src/abilities/memory/file/memory-file.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { startMortalHost } from "../support/model-host.ts";
import type { Memory } from "../../src/processes/memory-schemas.ts";

/** Points of a message from the log to the memory, and to a fact. */
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

/** Most of the time is waiting until a group is quiet, which hosts can do at the same time. */
test.concurrent.for(points)(
  "killed at %s, between a message and its fact, the host keeps both once, the fact with a source that is there",
  { timeout: 600_000 },
  async (at, { expect }) => {
    await using running = await startMortalHost(model, {
      config: { memory: { enabled: true, embeddings: "none", extract: { everyMessages: 1 } } },
    });
    const { host } = running;
    const listed = (): readonly Memory[] => {
      using file = MemoryFile.open(join(host.home, "memory", "family.sqlite"));
      return [...file.all()];
    };
    const say = () => host.say("family", "@crab I like tea", { id: "tea" });

    const isDead = await host.dieAt(at, say);
    // A peer that was not answered says it again.
    await say();
    const categories = () => listed().map(({ category }) => category);
    await expect
      .poll(() => categories().toSorted(), { timeout: 120_000 })
      .toEqual(["conversation", "conversation", "core"]);
    const memories = listed();
    const said = memories.filter(({ category }) => category === "conversation");
    const [fact] = memories.filter(({ category }) => category === "core");

    expect(isDead).toBe(true);
    expect(said.map(({ text }) => text).toSorted()).toEqual(["@crab I like tea", "noted"]);
    expect(fact?.sources.every((source) => said.some(({ sources }) => sources.includes(source)))).toBe(true);
    expect(fact?.sources).toHaveLength(1);
  },
);
