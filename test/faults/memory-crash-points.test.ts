import { join } from "node:path";

import { test } from "vitest";

import { MemoryFile } from "../../src/abilities/memory/file/memory-file.ts";
import type { Memory } from "../../src/abilities/memory/item.ts";
import { crashingHost } from "../support/host.ts";
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

/** Most of the time is waiting until a group is quiet, which hosts can do at the same time. */
const thirds = [0, 1, 2].map((third) => points.filter((_, index) => index % 3 === third));

test.concurrent.for(thirds)(
  "killed at %s and %s, between a message and its fact, the host keeps both once, the fact with a source that is there",
  { timeout: 600_000 },
  async (ats, { expect }) => {
    const crashes = ats.map((at, index) => ({ at, group: `group-${index}` }));
    await using running = await startModelHost(model, {
      groups: Object.fromEntries(crashes.map(({ group }) => [group, {}])),
      config: { memory: { enabled: true, embeddings: "none", extract: { everyMessages: 1 } } },
      program: crashingHost,
    });
    const { host } = running;
    const listed = (group: string): readonly Memory[] => {
      using file = MemoryFile.open(join(host.home, "memory", `${group}.sqlite`));
      return [...file.all()];
    };
    const missed: string[] = [];

    for (const { at, group } of crashes) {
      const say = () => host.say(group, "@crab I like tea", { id: group });
      if (!(await host.dieAt(at, say))) missed.push(at);
      // A peer that was not answered says it again.
      await say();
      const categories = () => listed(group).map(({ category }) => category);
      await expect.poll(() => categories().toSorted()).toEqual(["conversation", "conversation", "core"]);
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
  },
);
