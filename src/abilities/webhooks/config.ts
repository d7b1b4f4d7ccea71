import * as z from "zod";

import { name } from "../name.ts";

const hook = z.strictObject({
  group: name.describe("Whose agent gets something to do."),
  secret: z.string().min(8).max(4096).describe("What the other program signs with: HMAC-SHA-256 of the body, as hex."),
  prompt: z.string().min(1).max(8_000).optional().describe("What the agent is to do with what was sent."),
  role: z
    .enum(["guest", "member"])
    .default("guest")
    .describe("What it may do then: no more than somebody of this role."),
  perMinute: z.number().int().min(1).max(6_000).default(60).describe("More calls in a minute are refused."),
});
const hooks = z
  .record(name, hook)
  .default({})
  .meta({
    description: "Addresses at which other programs give agents something to do: POST /v1/hooks/<name>, signed.",
    examples: [
      {
        deploys: {
          group: "family",
          secret: "${DEPLOYS_SECRET}",
          prompt: "Say in one sentence what was deployed.",
        },
      },
    ],
  });

/** The key `hooks`. */
export const webhookConfig = { top: { hooks }, ofGroup: {}, effects: { hooks: "now" } } as const;
