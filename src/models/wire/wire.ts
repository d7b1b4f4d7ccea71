import { createHash } from "node:crypto";

import type { ModelMessage, Thoughts, ToolCall, ToolResult } from "../../domain/turns/model.ts";
import type { Part } from "../../domain/chats/part.ts";
import { describeFrames, describePart, partsOf } from "../../domain/chats/part.ts";
import { estimateTextTokens } from "../../lib/text/text-tokens.ts";
import type { ProviderRequest } from "../provider.ts";

/** Text as the vendor gets it; `undefined` when there is nothing in it, which all of them refuse. */
export function textOrNothing(text: string): string | undefined {
  return text.trim() === "" ? undefined : text.toWellFormed();
}

/** JSON without lone surrogates, which vendors' parsers refuse. */
export function wellFormedJson(value: {}): string {
  return JSON.stringify(value, (_key, part: unknown) => (typeof part === "string" ? part.toWellFormed() : part));
}

/** An image with its bytes, or a text that is not empty. */
export type WirePart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "image"; readonly mimeType: string; readonly data: Uint8Array };

/** Never without a part. */
export interface WireResult {
  readonly callId: string;
  readonly parts: readonly WirePart[];
  readonly isError: boolean;
}

export type WireMessage =
  | { readonly role: "user"; readonly parts: readonly WirePart[] }
  | {
      readonly role: "assistant";
      readonly text: string | undefined;
      readonly toolCalls: readonly ToolCall[];
      readonly thoughts: Thoughts;
    }
  | { readonly role: "tool"; readonly results: readonly WireResult[] };

/**
 * The conversation in the form that all vendors accept: no empty messages, users' messages in a row made one, and call
 * ids of at most 40 letters, digits, `_` and `-` (`short`: nine letters and digits) that occur once. An id depends only
 * on what stands before it, so that a longer conversation begins with the same bytes as the shorter one did.
 */
export function toWireMessages(
  { messages, images }: Pick<ProviderRequest, "messages" | "images">,
  { callIds = "usual" }: { readonly callIds?: "usual" | "short" } = {},
): WireMessage[] {
  const ids = new CallIds(callIds === "short" ? shortId : usualId);
  const wire: WireMessage[] = [];
  for (const message of messages) {
    const next = toWireMessage(message, { ids, images });
    const last = wire.at(-1);
    if (next === undefined) continue;
    if (next.role === "user" && last?.role === "user")
      wire[wire.length - 1] = { role: "user", parts: [...last.parts, ...next.parts] };
    else wire.push(next);
  }
  return wire;
}

/** The bytes of an image in Base64, as all vendors take them. */
export function toBase64(data: Uint8Array): string {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");
}

/**
 * Estimated tokens of a request, when the vendor reports none. Images are left out: in Base64 they would count as text.
 */
export function estimateInputTokens(request: ProviderRequest, toBody: (request: ProviderRequest) => object): number {
  return estimateTextTokens(JSON.stringify(toBody({ ...request, images: undefined })));
}

function toWireMessage(
  message: ModelMessage,
  { ids, images }: { readonly ids: CallIds; readonly images: ProviderRequest["images"] },
): WireMessage | undefined {
  if (message.role === "tool") {
    const results = message.results.map((result) => toWireResult(result, ids, images));
    return results.length === 0 ? undefined : { role: "tool", results };
  }
  if (message.role === "user") {
    const parts = toWireParts(partsOf(message), images);
    return parts.length === 0 ? undefined : { role: "user", parts };
  }
  const text = textOrNothing(message.text);
  const toolCalls = message.toolCalls.map((call) => ({ ...call, id: ids.next(call.id) }));
  const thoughts = message.thoughts?.items ?? [];
  return text === undefined && toolCalls.length === 0 ? undefined : { role: "assistant", text, toolCalls, thoughts };
}

function toWireResult(result: ToolResult, ids: CallIds, images: ProviderRequest["images"]): WireResult {
  const parts = toWireParts(partsOf(result), images);
  // Some vendors refuse an empty one.
  if (parts.length === 0) parts.push({ kind: "text", text: "(no output)" });
  return { callId: ids.current(result.callId), parts, isError: result.isError };
}

function toWireParts(parts: readonly Part[], images: ProviderRequest["images"]): WirePart[] {
  return parts.flatMap((part): WirePart[] => {
    const data = part.kind === "image" ? images?.get(part.blob) : undefined;
    if (part.kind === "image" && data) {
      const others =
        part.frames === undefined ? [] : [{ kind: "text", text: `[a picture${describeFrames(part)}]` } as const];
      return [{ kind: "image", mimeType: part.mimeType, data }, ...others];
    }
    const text = textOrNothing(describePart(part));
    return text === undefined ? [] : [{ kind: "text", text }];
  });
}

/** The id, if it is the `count`th one that would be called so. */
type ToWireId = (id: string, count: number) => string;

function usualId(id: string, count: number): string {
  const clean = id.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 32) || "call";
  return count === 1 ? clean : `${clean}_${count}`;
}

function shortId(id: string, count: number): string {
  if (count === 1 && /^[A-Za-z0-9]{9}$/.test(id)) return id;
  return createHash("sha256")
    .update(JSON.stringify([id, count]))
    .digest("hex")
    .slice(0, 9);
}

class CallIds {
  readonly #toWireId: ToWireId;
  readonly #used = new Set<string>();
  readonly #current = new Map<string, string>();

  constructor(toWireId: ToWireId) {
    this.#toWireId = toWireId;
  }

  next(id: string): string {
    let wireId = this.#toWireId(id, 1);
    for (let count = 2; this.#used.has(wireId); count += 1) wireId = this.#toWireId(id, count);
    this.#used.add(wireId);
    this.#current.set(id, wireId);
    return wireId;
  }

  current(id: string): string {
    return this.#current.get(id) ?? this.#toWireId(id, 1);
  }
}
