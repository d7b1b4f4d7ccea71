import * as z from "zod";

import { ofHost } from "../../../domain/rights/sourced.ts";
import { defineAbilityTool } from "../../../tools/define-tool.ts";
import type { MemoryPort } from "../memory-port.ts";

export const memoryForget = defineAbilityTool<MemoryPort>()({
  name: "memory_forget",
  description:
    "Remove one memory of this group for good, when the member whose words it holds, or an admin, asks for it.",
  input: z.strictObject({
    id: z.string().min(1).max(256).describe("As memory_search shows it."),
  }),
  runs: "host",
  risk: "low",
  timeoutSeconds: 30,
  activity: { doing: "forgetting something" },
  requires: "memory",
  run: async ({ id }, { port }) => {
    await port.forget(id);
    return ofHost`Forgotten.`;
  },
});
