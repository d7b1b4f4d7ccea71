import { expect, test } from "vitest";

import { showMemory } from "../../../../src/abilities/memory/keeping/show-memories.ts";
import { rewriteStep } from "../../../../src/records/erasure/rewrite-step.ts";

const memory = { category: "core", text: "likes tea", time: 0, sender: "Ann", origin: "guest" } as const;
const at = (): string => "noon";

test("who said something stands there by name and by id; what the agent has kept only says whom it is about", () => {
  const said = showMemory({ ...memory, id: "said-1", people: ["http:mallory"] }, at);
  const together = showMemory({ ...memory, id: "fact-1", people: ["http:mallory", "http:ann"] }, at);
  const noted = showMemory({ ...memory, id: "note-1", origin: "agent", people: ["http:mallory"] }, at);
  const ofOperator = showMemory({ ...memory, id: "1" }, at);

  expect(said).toContain('from="Ann" sender="mallory" origin');
  expect(together).toContain('from="Ann" sender="mallory, ann" origin');
  expect(noted).toContain('about="Ann" asked-by="mallory" origin');
  expect(ofOperator).toContain('from="Ann" origin');
});

test("who is forgotten stands at no memory that a conversation was shown", () => {
  const people = ["http:mallory"];
  const shown = [
    showMemory({ ...memory, id: "said-1", sender: "Chosen", people }, at),
    showMemory({ ...memory, id: "note-1", sender: "", origin: "agent", people }, at),
    showMemory({ ...memory, id: "note-2", sender: "Mallory", origin: "agent" }, at),
  ];
  const erasing = {
    people: [{ channel: "http", id: "mallory" }],
    names: ["Mallory"],
    messageIds: new Set<string>(),
    isTheirs: false,
    holds: () => false,
  };

  const after = rewriteStep({ kind: "user", text: shown.join("\n") }, erasing);

  expect(JSON.stringify(after)).not.toMatch(/mallory|Mallory|Chosen|likes tea/);
});
