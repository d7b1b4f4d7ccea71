import type { Client } from "@modelcontextprotocol/client";

import type { FilledForm, FormRequest } from "../../../domain/rights/form.ts";

/** Requests that a server may make during our call. */
export interface Wishes {
  /** Answers by a model; undefined: not allowed. Rejects with words for the server. */
  readonly sample?: ((request: SampleRequest, signal: AbortSignal) => Promise<Sampled>) | undefined;
  /** Asks people; undefined: not allowed. */
  readonly elicit?: Elicit | undefined;
}

/** Prompt for the model, as texts. */
export interface SampleRequest {
  readonly system: string;
  readonly messages: readonly { readonly role: "user" | "assistant"; readonly text: string }[];
  readonly maxTokens: number;
}

export interface Sampled {
  readonly text: string;
  readonly model: string;
}

/** Asks people. Rejects with words for the server. */
export type Elicit = (request: Pick<FormRequest, "message" | "wants">, signal: AbortSignal) => Promise<FilledForm>;

/** Characters of what a server has a model answer. */
const sampledChars = 100_000;

export function answerWishes(client: Client, { sample, elicit }: Wishes): void {
  if (sample)
    client.setRequestHandler("sampling/createMessage", async ({ params }, { mcpReq: { signal } }) => {
      const messages = params.messages.map(({ role, content }) => ({ role, text: textOf(content) }));
      const chars = messages.reduce((sum, { text }) => sum + text.length, (params.systemPrompt ?? "").length);
      if (chars > sampledChars) throw new Error(`at most ${sampledChars} characters can be asked`);
      const request = { system: params.systemPrompt ?? "", messages, maxTokens: params.maxTokens };
      const { text, model } = await sample(request, signal);
      return { role: "assistant" as const, content: { type: "text" as const, text }, model, stopReason: "endTurn" };
    });
  if (elicit)
    client.setRequestHandler("elicitation/create", async ({ params }, { mcpReq: { signal } }) => {
      const wants = "url" in params ? { url: params.url } : { schema: params.requestedSchema };
      return { ...(await elicit({ message: params.message, wants }, signal)) };
    });
}

/** Models are asked in words alone. */
function textOf(content: unknown): string {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  return blocks
    .map((block) => {
      const text: unknown = typeof block === "object" && block !== null && "text" in block ? block.text : undefined;
      return typeof text === "string" ? text : "[not text]";
    })
    .join("\n");
}
