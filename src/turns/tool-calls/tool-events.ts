import { createHash } from "node:crypto";

import type { ToolCall, ToolResult } from "../../domain/turns/model.ts";
import type { Part } from "../../domain/chats/part.ts";
import { partsOf } from "../../domain/chats/part.ts";
import type { TurnCollaborators } from "../collaborators.ts";
import { turnIdsOf, type TurnScope } from "../turn-scope.ts";
import type { JudgedCall, JudgedCalls } from "./judge-calls.ts";

type EventParts = Pick<TurnCollaborators, "publish" | "fingerprint">;

/** Tells which tools the model calls, before the agent gets them. */
export async function publishToolCalls(
  scope: TurnScope,
  { publish, fingerprint }: EventParts,
  { allowed, denied, origins }: JudgedCalls,
): Promise<void> {
  const about = { ...turnIdsOf(scope), actor: "model" } as const;
  const shortly = ({ call: { id, name, input }, verdict: { risk, rule } }: JudgedCall) => {
    return { id, name, input: fingerprint(JSON.stringify(input)), risk, rule, origins };
  };
  for (const judged of allowed) await publish({ type: "tool.called", ...about, data: shortly(judged) });
  for (const judged of denied) {
    await publish({ type: "tool.denied", ...about, data: { ...shortly(judged), reason: judged.reason } });
  }
}

/**
 * Tells what came of them by length and digest (of all parts, where there is more than text), before they are stored
 * and the model sees them.
 */
export async function publishToolResults(
  scope: TurnScope,
  { publish }: Pick<EventParts, "publish">,
  { calls, results }: { readonly calls: readonly ToolCall[]; readonly results: readonly ToolResult[] },
): Promise<void> {
  const names = new Map(calls.map(({ id, name }) => [id, name]));
  const telling = results.map((result) => {
    const { callId: id, isError } = result;
    const data = { id, name: names.get(id) ?? "", ...digestOf(result), isError };
    return publish({ type: "tool.returned", ...turnIdsOf(scope), actor: "agent", data });
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
