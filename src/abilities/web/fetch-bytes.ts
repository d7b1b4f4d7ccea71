import { createHash } from "node:crypto";

import { AppError, toError } from "../../lib/app-error.ts";
import type { ResolveHost } from "../../lib/http/address-guard.ts";
import { guardedFetch, type GuardedFetchOptions } from "../../lib/http/guarded-fetch.ts";
import { mebibyte } from "../../lib/text/bytes.ts";
import { ToolError } from "../../protocol/tools.ts";

/** Maximum bytes of a page, unpacked. */
export const maxPageBytes = 10 * mebibyte;
/** For all of it, redirects included, and in which something has to come. */
const pageMs = 30_000;
const silenceMs = 15_000;

/** Tolerance for reading ahead: a large page's beginning is wanted, not an error. */
const slackBytes = mebibyte;

/** Response. */
export interface Answer {
  readonly url: URL;
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  /** Hash of the bytes. */
  readonly sha256: string;
  /** There was more than is taken. */
  readonly isCut: boolean;
}

export interface AnswerLimits {
  readonly pageMs?: number | undefined;
  readonly maxBytes?: number | undefined;
  readonly resolve?: ResolveHost | undefined;
}

/**
 * Asks for an address and reads the answer, as far as the limits go. Throws ToolError with why there is none, in words
 * for a model.
 */
export async function fetchBytes(
  url: URL,
  init: RequestInit & { readonly signal: AbortSignal },
  options: Pick<GuardedFetchOptions, "allowPrivate" | "onlyListed"> & AnswerLimits,
): Promise<Answer> {
  const { pageMs: bodyMs = pageMs, maxBytes = maxPageBytes, ...guard } = options;
  const late = AbortSignal.timeout(bodyMs);
  const times = { headersMs: bodyMs, bodyMs, silenceMs: Math.min(silenceMs, bodyMs) };
  using fetcher = guardedFetch({ ...guard, ...times, maxBytes: maxBytes + slackBytes });
  try {
    const response = await fetcher.fetch(url, { ...init, signal: AbortSignal.any([init.signal, late]) });
    const { url: final, status, headers } = response;
    return { url: new URL(final), status, headers, ...(await readBody(response, maxBytes)) };
  } catch (thrown) {
    init.signal.throwIfAborted();
    if (late.aborted) throw new ToolError(`${url.origin} did not answer completely in ${bodyMs / 1_000} s.`);
    throw inWordsForModel(toError(thrown), url);
  }
}

/** Reads until there is no more, or more than enough; hashes on the way, because all at once would hold up the host. */
async function readBody(response: Response, maxBytes: number): Promise<Pick<Answer, "bytes" | "sha256" | "isCut">> {
  const hash = createHash("sha256");
  const chunks: Uint8Array[] = [];
  let count = 0;
  let isCut = false;
  const body: AsyncIterable<Uint8Array> | readonly Uint8Array[] = response.body ?? [];
  for await (const chunk of body) {
    const taken = chunk.subarray(0, maxBytes - count);
    chunks.push(taken);
    hash.update(taken);
    count += taken.length;
    isCut = taken.length < chunk.length;
    if (isCut) break;
  }
  return { bytes: Buffer.concat(chunks), sha256: hash.digest("hex"), isCut };
}

function inWordsForModel(error: Error, url: URL): ToolError {
  if (error instanceof AppError) return new ToolError(error.message, { cause: error });
  const detail = reasonOf(error).slice(0, 200).replaceAll(/\s+/g, " ");
  return new ToolError(`${url.origin} could not be fetched: ${detail}.`, { cause: error });
}

/** Reason of an unpacking error, which has a code but may lack a message. */
function reasonOf(error: Error & { readonly code?: unknown }): string {
  if (/^(Z_|ERR__ERROR_FORMAT)/.test(String(error.code))) return "what it sent cannot be unpacked";
  return error.message === "aborted" ? "its answer was cut off" : error.message;
}
