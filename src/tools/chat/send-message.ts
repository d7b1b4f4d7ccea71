import * as z from "zod";

import { ofHost } from "../../domain/rights/sourced.ts";
import { defineTool } from "../define-tool.ts";

export const sendMessage = defineTool({
  name: "send_message",
  description:
    "Send a message to the chat before the turn ends, for example progress on long work. The final answer needs no tool.",
  input: z.strictObject({
    text: z.string().min(1).max(64_000).describe("Text to send to the chat now, before the turn ends."),
  }),
  runs: "host",
  risk: "low",
  timeoutSeconds: 60,
  activity: { doing: "writing a message" },
  needs: ["redact", "send"],
  right: "speak",
  run: async (input, { redact, send }) => {
    const text = redact(input.text);
    if (text === "") return ofHost`Nothing was sent: the text was empty.`;
    await send({ text });
    return ofHost`Sent.`;
  },
});
