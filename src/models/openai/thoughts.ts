import * as z from "zod";

import type { Thoughts } from "../../domain/turns/model.ts";

/** Fields in which servers put reasoning; it is returned in the same field. */
export const textFields = ["reasoning_content", "reasoning"] as const;

const thought = z.union([
  /** DeepSeek, Kimi, Qwen, vLLM, llama.cpp; OpenRouter, Ollama, Groq. */
  z.object({ field: z.enum(textFields), text: z.string() }),
  /** OpenRouter: what the vendor behind it has signed. */
  z.object({ field: z.literal("reasoning_details"), details: z.array(z.record(z.string(), z.unknown())) }),
  /** Mistral: in front of what is said, in the content itself. */
  z.object({ field: z.literal("content"), chunks: z.array(z.record(z.string(), z.unknown())) }),
  /** Gemini: a signature beside the call with this number. */
  z.object({
    field: z.literal("extra_content"),
    call: z.number().int().min(0),
    content: z.record(z.string(), z.unknown()),
  }),
]);

export type Thought = z.infer<typeof thought>;

/** Those of this format among them; what another one has thought is left out. */
export function readThoughts(thoughts: Thoughts): readonly Thought[] {
  return thoughts.flatMap((item) => {
    const read = thought.safeParse(item);
    return read.success ? [read.data] : [];
  });
}
