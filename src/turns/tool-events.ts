import { createHash } from "node:crypto";

import type { ToolCall, ToolResult } from "../domain/model.ts";
import type { Part } from "../domain/part.ts";
import { partsOf } from "../domain/part.ts";
import type { TurnTools } from "../tools/conversation-tools.ts";
import { placeOf } from "./turn-options.ts";
import type { TurnOptions, TurnScope } from "./turn-options.ts";

type Parts = Pick<TurnOptions, "publish" | "fingerprint">;

/** Tells which tools the model calls, before the agent gets them. */
export async function publishToolCalls(
  scope: TurnScope,
  { publish, fingerprint }: Parts,
  calls: {
    readonly allowed: readonly ToolCall[];
    readonly denied: readonly { readonly call: ToolCall; readonly reason: string }[];
    readonly tools: Pick<TurnTools, "riskOf">;
  },
): Promise<void> {
  const about = { ...placeOf(scope), actor: "model" } as const;
  const shortly = async (call: ToolCall) => {
    const { id, name, input } = call;
    return { id, name, input: fingerprint(JSON.stringify(input)), risk: await calls.tools.riskOf(call) };
  };
  for (const call of calls.allowed) await publish({ type: "tool.called", ...about, data: await shortly(call) });
  for (const { call, reason } of calls.denied) {
    await publish({ type: "tool.denied", ...about, data: { ...(await shortly(call)), reason } });
  }
}

/** Tells what came of them by length and digest (of all parts, where there is more than text), before they are stored and the model sees them. */
export async function publishToolResults(
  scope: TurnScope,
  { publish }: Pick<Parts, "publish">,
  { calls, results }: { readonly calls: readonly ToolCall[]; readonly results: readonly ToolResult[] },
): Promise<void> {
  const names = new Map(calls.map(({ id, name }) => [id, name]));
  const telling = results.map((result) => {
    const { callId: id, isError } = result;
    const data = { id, name: names.get(id) ?? "", ...digestOf(result), isError };
    return publish({ type: "tool.returned", ...placeOf(scope), actor: "agent", data });
  });
  await Promise.all(telling);
}

/** A blob's reference is the digest of its bytes already, so the digest of the list of parts covers them. */
function digestOf(result: ToolResult): { readonly sha256: string; readonly bytes: number } {
  const text = result.parts === undefined ? result.output : JSON.stringify(result.parts);
  const bytes = partsOf(result).reduce((total, part) => total + bytesOf(part), 0);
  return { sha256: createHash("sha256").update(text).digest("hex"), bytes };
}

function bytesOf(part: Part): number {
  return part.kind === "text" ? Buffer.byteLength(part.text) : part.bytes;
}
