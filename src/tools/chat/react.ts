import * as z from "zod";

import { ofHost } from "../../domain/rights/sourced.ts";
import { ToolError } from "../../protocol/tools.ts";
import { defineTool } from "../define-tool.ts";

export const react = defineTool({
  name: "react",
  description: "Put an emoji on the last message that was for you.",
  input: z.strictObject({
    emoji: z.string().min(1).max(64).describe("One emoji, put on the message that you are answering."),
  }),
  runs: "host",
  risk: "low",
  timeoutSeconds: 60,
  activity: { doing: "reacting to a message" },
  needs: ["send", "lastMessage"],
  right: "speak",
  channelTrait: "reactions",
  run: async ({ emoji }, { send, lastMessage }) => {
    if (!/^\p{RGI_Emoji}$/v.test(emoji)) throw new ToolError("A reaction is exactly one emoji.");
    const message = await lastMessage();
    if (!message) throw new ToolError("There is no message to react to.");
    await send({ text: "", reaction: { message: message.id, sender: message.sender.id, emoji } });
    return ofHost`Done.`;
  },
});
