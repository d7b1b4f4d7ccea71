import { describe, expect, test } from "vitest";

import type { ModelAnswer, ModelMessage, ToolDefinition } from "../../../../src/domain/turns/model.ts";
import type { BlobPart } from "../../../../src/domain/chats/part.ts";
import { openProvider } from "../../../../src/models/catalog.ts";
import { ProviderError } from "../../../../src/models/provider.ts";
import type { ProviderRequest } from "../../../../src/models/provider.ts";
import { readRecordings, startReplayServer } from "../../../support/model-servers/recordings.ts";
import type { Recording } from "../../../support/model-servers/recordings.ts";
import { settingsOf } from "../../../support/model-servers/strict-server.ts";
import { strictVendors } from "../../../support/model-servers/strict/vendors.ts";

const shell: ToolDefinition = {
  name: "shell",
  description: "Runs a command.",
  inputSchema: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
};
const image: BlobPart = { kind: "image", blob: "ab".repeat(32), mimeType: "image/png", bytes: 9, name: "cat.png" };

type Step = Recording["steps"][number];

/** Next messages: results, another model's calls, and people's words. */
function messagesOf(step: Step, last: ModelAnswer | undefined): readonly ModelMessage[] {
  const results = step.results.map(({ output, isError, image: shows }, index) => {
    const callId = last?.toolCalls[index]?.id ?? "";
    return shows
      ? { callId, isError, parts: [{ kind: "text" as const, text: output }, image] }
      : { callId, isError, output };
  });
  const said: ModelMessage[] =
    step.user === undefined
      ? []
      : [{ role: "user", parts: [{ kind: "text", text: step.user }, ...(step.image ? [image] : [])] }];
  const others = step.others.flatMap(({ id, command, output }): ModelMessage[] => [
    { role: "assistant", text: "", toolCalls: [{ id, name: "shell", input: { command } }] },
    { role: "tool", results: [{ callId: id, output, isError: false }] },
  ]);
  return [...(results.length > 0 ? [{ role: "tool" as const, results }] : []), ...said, ...others];
}

function toMessage({ text, toolCalls, thoughts, model }: ModelAnswer): ModelMessage {
  return { role: "assistant", text, toolCalls, ...(thoughts && { thoughts: { by: model, items: thoughts } }) };
}

const recordings = readRecordings();

test("every vendor has recordings, and each says where it is from", () => {
  expect([...new Set(recordings.map(({ vendor }) => vendor))].toSorted()).toEqual(
    Object.keys(strictVendors).toSorted(),
  );
  for (const { recording } of recordings) expect(recording.source).toMatch(/https:\/\/.*2026/);
});

describe.each(recordings)("$vendor, $name", ({ vendor, recording }) => {
  test("is asked as it was recorded, as its server wants it, and understood", async () => {
    const exchanges = recording.steps.flatMap((step) => step.exchanges);
    await using server = await startReplayServer(vendor, exchanges);
    const provider = await openProvider("vendor", { ...settingsOf(vendor), baseUrl: server.url });
    let messages: readonly ModelMessage[] = [];
    let last: ModelAnswer | undefined;

    for (const step of recording.steps) {
      const asked = [...messages, ...messagesOf(step, last)];
      const request: ProviderRequest = {
        model: recording.model,
        system: ["You are crab.", "It is Monday."],
        messages: asked,
        tools: [shell],
        images: new Map([[image.blob, Buffer.from("a picture")]]),
        ...recording.asks,
      };
      const call = provider.complete(request, { signal: new AbortController().signal });
      const outcome = await call.catch((error: unknown) => error as ProviderError);
      expect(outcome).toMatchObject(step.failure ? { name: "ProviderError", ...step.failure } : (step.answer ?? {}));
      if (outcome instanceof ProviderError) continue;
      last = outcome;
      messages = [...asked, toMessage(last)];
    }

    expect(server.received.map(({ body }) => body)).toEqual(exchanges.map(({ request }) => request));
    const isRefusal = (index: number): boolean => [400, 422].includes(exchanges[index]?.status ?? 0);
    expect(server.received.filter(({ refused }, index) => refused !== undefined && !isRefusal(index))).toEqual([]);
  });
});
