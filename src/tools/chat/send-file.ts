import * as z from "zod";

import { ofHost, sourced } from "../../domain/rights/sourced.ts";
import { defineTool } from "../define-tool.ts";

/** Wherever the container says that the path leads, it is a file of this group's that is sent. */
export const sendFile = defineTool({
  name: "send_file",
  description:
    "Send a file to the chat, as it is now. People cannot look into your folders: what they should get is sent.",
  input: z.strictObject({
    path: z.string().min(1).max(4_096).describe("File below /workspace/group, at most 64 MB."),
    caption: z.string().max(4_000).optional().describe("Text that goes with it."),
  }),
  runs: "host",
  risk: "low",
  timeoutSeconds: 120,
  activity: { doing: "sending a file", shows: "path" },
  needs: ["redact", "send", "keepFile"],
  right: "speak",
  resolvePaths: ["path"],
  run: async ({ path, caption = "" }, { redact, send, keepFile }) => {
    const kept = await keepFile(path);
    const name = redact(kept.name) || "file";
    await send({ text: redact(caption), file: { ...kept, name } });
    return ofHost`Sent ${sourced(name, [])} (${sourced(kept.mimeType, [])}, ${kept.bytes} bytes).`;
  },
});
