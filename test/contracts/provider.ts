import { describe, expect, test } from "vitest";

import type { ModelMessage, ToolDefinition } from "../../src/domain/turns/model.ts";
import type { BlobPart } from "../../src/domain/chats/part.ts";
import type { Provider, ProviderRequest } from "../../src/models/provider.ts";

const tools: readonly ToolDefinition[] = ["shell", "read_file", "write_file"].map((name) => ({
  name,
  description: `The tool ${name}.`,
  inputSchema: { type: "object", properties: {} },
}));

function request(model: string, messages: readonly ModelMessage[]): ProviderRequest {
  return { model, system: ["You are crab.", "It is Monday."], messages, tools, maxOutputTokens: 4_000 };
}

const talk: ModelMessage = { role: "user", text: "hello" };
const twoReads: Extract<ModelMessage, { role: "user" }> = { role: "user", text: "read /tmp/a.txt\nread /tmp/b.txt" };

const image: BlobPart = { kind: "image", blob: "ab".repeat(32), mimeType: "image/png", bytes: 9, name: "cat.png" };

/** A provider opened for the contract, and its expected behavior. */
export interface ContractSubject extends AsyncDisposable {
  readonly provider: Provider;
  readonly model: string;
}

/**
 * Contract of every provider. Its model, real or scripted, answers "hello" with some text, the two lines above with two
 * calls of `read_file`, and their results with a text that contains both.
 */
export function testProvider(name: string, open: () => Promise<ContractSubject>): void {
  describe(`${name} as a provider`, () => {
    test("a greeting is answered with text, streamed piece by piece, and counted", async () => {
      await using subject = await open();
      const deltas: string[] = [];
      const counts: number[] = [];

      const answer = await subject.provider.complete(request(subject.model, [talk]), {
        signal: new AbortController().signal,
        onDelta: (text) => deltas.push(text),
        onUsage: (usage) => counts.push(usage.outputTokens),
      });

      expect(answer).toMatchObject({ toolCalls: [], stop: "end", model: `${subject.provider.name}/${subject.model}` });
      expect(answer.text).not.toBe("");
      expect(deltas.join("")).toBe(answer.text);
      expect(answer.usage.inputTokens).toBeGreaterThan(0);
      expect(answer.usage.cachedInputTokens).toBeLessThanOrEqual(answer.usage.inputTokens);
      expect(counts.at(-1)).toBe(answer.usage.outputTokens);
    });

    test("two tools asked for at once come as two calls with parsed inputs and their own ids", async () => {
      await using subject = await open();

      const answer = await subject.provider.complete(request(subject.model, [twoReads]), {
        signal: new AbortController().signal,
      });

      expect(answer.stop).toBe("tool-calls");
      expect(answer.toolCalls.map(({ name: tool, input }) => [tool, input])).toEqual([
        ["read_file", { path: "/tmp/a.txt" }],
        ["read_file", { path: "/tmp/b.txt" }],
      ]);
      expect(new Set(answer.toolCalls.map(({ id }) => id)).size).toBe(2);
    });

    test("the results of its calls lead to a finished answer that knows them", async () => {
      await using subject = await open();
      const options = { signal: new AbortController().signal };
      const asked = await subject.provider.complete(request(subject.model, [twoReads]), options);

      const answer = await subject.provider.complete(
        request(subject.model, [
          twoReads,
          { role: "assistant", text: asked.text, toolCalls: asked.toolCalls },
          {
            role: "tool",
            results: asked.toolCalls.map(({ id }, index) => ({
              callId: id,
              output: `content ${index}`,
              isError: index === 1,
            })),
          },
        ]),
        options,
      );

      expect(answer.stop).toBe("end");
      expect(answer.text).toContain("content 0");
      expect(answer.text).toContain("content 1");
    });

    test("images in what people said and in results do no harm, whether their bytes are there or not", async () => {
      await using subject = await open();
      const options = { signal: new AbortController().signal };
      const asked = await subject.provider.complete(request(subject.model, [twoReads]), options);
      const results = asked.toolCalls.map(({ id: callId }, index) => ({
        callId,
        parts: [{ kind: "text", text: `content ${index}` } as const, image],
        isError: false,
      }));
      const messages: readonly ModelMessage[] = [
        { role: "user", parts: [{ kind: "text", text: twoReads.text ?? "" }, image] },
        { role: "assistant", text: asked.text, toolCalls: asked.toolCalls },
        { role: "tool", results },
      ];

      for (const images of [new Map([[image.blob, Buffer.from("a picture")]]), undefined]) {
        const answer = await subject.provider.complete({ ...request(subject.model, messages), images }, options);

        expect(answer.stop).toBe("end");
        expect(answer.text).toContain("content 0");
        expect(answer.text).toContain("content 1");
      }
    });

    test("a call that is aborted before it begins ends with the reason for it", async () => {
      await using subject = await open();
      const reason = new Error("the turn was stopped");

      const call = subject.provider.complete(request(subject.model, [talk]), { signal: AbortSignal.abort(reason) });

      await expect(call).rejects.toBe(reason);
    });

    test("the check says that it is reachable", async () => {
      await using subject = await open();

      const result = await subject.provider.check(new AbortController().signal);

      expect(result.ok).toBe(true);
      expect(result.detail).not.toBe("");
    });
  });
}
