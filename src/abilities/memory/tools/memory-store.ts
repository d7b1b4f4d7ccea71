import * as z from "zod";

import { ofHost, sourced } from "../../../domain/rights/sourced.ts";
import { defineAbilityTool } from "../../../tools/define-tool.ts";
import type { MemoryPort } from "../memory-port.ts";

const description =
  "Keep something for later conversations of this group: how things are, not what to do. No passwords, keys or tokens. What is said in the chat is kept anyway.";

export const memoryStore = defineAbilityTool<MemoryPort>()({
  name: "memory_store",
  description,
  mainDescription: `${description} Category global: a note that other groups are shown too, when an admin asks for one.`,
  input: z.strictObject({
    text: z.string().trim().min(1).max(4_000).describe("One thing, so that it can be understood by itself."),
    category: z
      .string()
      .regex(/^[a-z][a-z0-9_-]{0,31}$/)
      .default("daily")
      .describe("daily: notes of a day; core: lasting facts that a member told you; or a name such as recipes."),
    about: z.string().min(1).max(256).optional().describe("The name of whom it is about."),
  }),
  runs: "host",
  // What others are shown too reaches beyond the group.
  risk: ({ category }) => (category === "global" ? "high" : "low"),
  timeoutSeconds: 30,
  activity: { doing: "remembering something" },
  requires: "memory",
  run: async ({ text, category, about }, { port }) => {
    return ofHost`Kept as ${sourced(await port.store({ text, category, about }), [])}.`;
  },
});
