import { defineAbility } from "../define-ability.ts";
import { memoryConfig } from "./config.ts";
import type { MemoryServiceNeeds } from "./memory-needs.ts";
import { memoryForget } from "./tools/memory-forget.ts";
import { memorySearch } from "./tools/memory-search.ts";
import { memoryStore } from "./tools/memory-store.ts";

/** Lets groups remember what is said. */
export const memory = defineAbility<MemoryServiceNeeds>()({
  name: "memory",
  config: memoryConfig,
  tools: [memoryForget, memorySearch, memoryStore],
  start: async (needs, settings) => {
    const { MemoryService } = await import("./memory-service.ts");
    return new MemoryService(needs, () => settings().memory);
  },
  portFor: (service, scope) => service.portFor(scope),
  on: {
    "message.received": (service, { group }) => service.said(group),
    "turn.ended": (service, { group }) => service.said(group),
  },
});
