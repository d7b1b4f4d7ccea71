import * as z from "zod";

import { ToolError } from "../../protocol/tools.ts";
import { defineTool } from "../define-tool.ts";

export const memoryForget = defineTool({
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
  needs: ["memory"],
  run: async ({ id }, { memory }) => {
    if (!memory) throw new ToolError("This group remembers nothing.");
    await memory.forget(id);
    return "Forgotten.";
  },
});
