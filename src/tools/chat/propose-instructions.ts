import * as z from "zod";

import { instructionChars } from "../../domain/rights/protected-file.ts";
import { ofHost } from "../../domain/rights/sourced.ts";
import { defineTool } from "../define-tool.ts";

export const proposeInstructions = defineTool({
  name: "propose_instructions",
  description:
    "Propose a new AGENTS.md, the group's instructions, which you cannot change yourself. People are shown what would change, and an admin decides.",
  input: z.strictObject({
    content: z
      .string()
      .max(instructionChars)
      .refine((text) => text.isWellFormed(), "has half a character in it")
      .describe("The whole new text of AGENTS.md."),
    reason: z.string().max(400).optional().describe("Why, for the people who decide."),
  }),
  runs: "host",
  risk: "high",
  asksAlways: true,
  timeoutSeconds: 60,
  activity: { doing: "changing its instructions" },
  needs: ["changeOutcome"],
  run: (_input, { changeOutcome }) =>
    changeOutcome({ thing: "AGENTS.md", written: ofHost`AGENTS.md has been changed, and applies from now on.` }),
});
