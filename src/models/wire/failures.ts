import type { Clock } from "../../lib/time/clock.ts";
import { hiddenCharacter } from "../../lib/text/hidden-characters.ts";
import { ProviderError } from "../provider.ts";
import type { ProviderFailure } from "../provider.ts";
import { windowIn } from "./refused-length.ts";
import { SilenceError } from "./transport.ts";

/** Parts of a vendor's refusal, as far as known; a failure within a stream has no status. */
export interface VendorFailure {
  readonly status: number | undefined;
  /** The vendor's words for the kind of error: `type` and `code` of its error object. */
  readonly kinds: readonly string[];
  readonly message: string;
  readonly headers: Headers | undefined;
}

const byStatus: Readonly<Record<number, ProviderFailure>> = {
  401: "auth",
  402: "auth",
  403: "auth",
  408: "unavailable",
  409: "unavailable",
  413: "too-long",
  429: "rate-limited",
  503: "overloaded",
  529: "overloaded",
};

const byKind: Readonly<Record<string, ProviderFailure>> = {
  authentication_error: "auth",
  billing_error: "auth",
  context_length_exceeded: "too-long",
  engine_overloaded_error: "overloaded",
  exceed_context_size_error: "too-long",
  exceeded_current_quota_error: "auth",
  insufficient_quota: "auth",
  invalid_api_key: "auth",
  invalid_authentication_error: "auth",
  invalid_prompt: "invalid",
  invalid_request_error: "invalid",
  not_found_error: "invalid",
  overloaded_error: "overloaded",
  permission_error: "auth",
  rate_limit_error: "rate-limited",
  rate_limit_exceeded: "rate-limited",
  request_too_large: "too-long",
  server_error: "unavailable",
};

/** Vendors' words for a prompt that is too long; no vendor has a code for every case. */
const tooLong =
  /context.?(length|window|size)|maximum (context|prompt)|prompt is too long|too many (input )?tokens|input (is|was) too long|input length|token (count|limit)|`inputs` tokens \+/i;

/**
 * A wrong key, or an account without credit, reported without its own status by Anthropic, Gemini and xAI. Not
 * retryable.
 */
const refusesAccount =
  /api key (is )?not valid|(incorrect|invalid) api key|credit balance|used all available credits|spending limit/i;

/** Sorts a vendor's refusal into what the calls act on. */
function failureOf(failure: Pick<VendorFailure, "status" | "kinds" | "message">): ProviderFailure {
  const { status, kinds, message } = failure;
  const named = kinds.map((kind) => byKind[kind]).filter((found) => found !== undefined);
  // A used-up account answers 429, but no waiting helps; so does an overloaded vendor, which is no fault of ours.
  const final = named.find((found) => found === "auth" || found === "too-long" || found === "overloaded");
  const found = final ?? (status === undefined ? named[0] : ofStatus(status)) ?? "unavailable";
  if ((found === "invalid" || found === "rate-limited") && refusesAccount.test(message)) return "auth";
  return found === "invalid" && tooLong.test(message) ? "too-long" : found;
}

function ofStatus(status: number): ProviderFailure {
  return byStatus[status] ?? (status >= 500 ? "unavailable" : "invalid");
}

/**
 * Delay that the vendor asks for, in milliseconds: `retry-after-ms`, or `retry-after` in seconds or as an HTTP date
 * (relative to the answer's `date`, so that wrong clocks do not matter).
 */
function retryAfterMs(headers: Headers | undefined, clock: Clock): number | undefined {
  const inMs = toNumber(headers?.get("retry-after-ms"));
  if (inMs !== undefined) return inMs;
  const text = headers?.get("retry-after");
  const inSeconds = toNumber(text);
  if (inSeconds !== undefined) return inSeconds * 1000;
  const at = Date.parse(text ?? "");
  if (Number.isNaN(at)) return undefined;
  const said = Date.parse(headers?.get("date") ?? "");
  return Math.max(0, at - (Number.isNaN(said) ? clock.now() : said));
}

/**
 * Some say it in words only: "Please retry in 12.5s" (Gemini), "try again in 6m0s" (OpenAI), "try again after 1
 * seconds" (Kimi).
 */
function retryAfterMsInWords(message: string): number | undefined {
  const said = /(?:retry|try again) (?:in|after) (?:(\d{1,4})m)?(\d{1,6}(?:\.\d{1,6})?) ?(ms|s)/i.exec(message);
  if (!said) return undefined;
  const [, minutes = "0", amount, unit = ""] = said;
  return Math.ceil(Number(minutes) * 60_000 + Number(amount) * (unit.toLowerCase() === "ms" ? 1 : 1_000));
}

function toNumber(text: string | null | undefined): number | undefined {
  return text !== null && text !== undefined && /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : undefined;
}

interface ExplainOptions {
  readonly vendor: string;
  /** Signal of the call. */
  readonly signal: AbortSignal;
  readonly safe: { readonly secret: string; readonly clock: Clock };
  /** The vendor's answer, if any; undefined for a failed connection or an unreadable answer. */
  readonly answered: VendorFailure | undefined;
}

/** Translates an SDK error: the signal's reason, an existing ProviderError, or one that is safe to log and show. */
export function explainFailure(error: unknown, { vendor, signal, safe, answered }: ExplainOptions): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof ProviderError) return error;
  return answered === undefined ? brokenConnection(vendor, error, safe.secret) : refusal(vendor, answered, safe);
}

/** Turns what a vendor refused into an error whose text is safe to log and to show. */
function refusal(vendor: string, failure: VendorFailure, safe: { secret: string; clock: Clock }): ProviderError {
  const what = failure.status === undefined ? "broke off with an error" : `answered ${failure.status}`;
  const sort = failureOf(failure);
  return new ProviderError(sort, `${vendor} ${what}: ${scrub(failure.message, safe.secret) || "no reason given"}`, {
    retryAfterMs: retryAfterMs(failure.headers, safe.clock) ?? retryAfterMsInWords(failure.message),
    windowTokens: sort === "too-long" ? windowIn(failure.message) : undefined,
  });
}

/** Turns a failed connection or an unreadable stream into an error without addresses or keys. */
function brokenConnection(vendor: string, error: unknown, secret: string): ProviderError {
  if (error instanceof SyntaxError || error instanceof TypeError)
    return malformed(vendor, "it does not follow the protocol");
  const causes = [...causesOf(error)];
  const silence = causes.find((cause) => cause instanceof SilenceError);
  const innermost = silence ?? causes.at(-1);
  const reason = innermost instanceof Error ? describe(innermost) : String(innermost);
  return new ProviderError("unavailable", `${vendor} could not be reached or broke off: ${scrub(reason, secret)}`);
}

/** An answer that came, but that cannot be used. */
export function malformed(vendor: string, what: string): ProviderError {
  return new ProviderError("unavailable", `${vendor} gave a malformed answer: ${what}`);
}

function* causesOf(error: unknown): Generator {
  let current = error;
  for (let depth = 0; depth < 8 && current !== undefined; depth += 1) {
    yield current;
    current = current instanceof Error ? current.cause : undefined;
  }
}

function describe(error: Error): string {
  const code = "code" in error && typeof error.code === "string" ? ` (${error.code})` : "";
  return `${error.message || error.name}${code}`;
}

/** Takes keys, passwords in addresses and control characters out of a vendor's text, and shortens it. */
function scrub(text: string, secret: string): string {
  // Local servers take any word as a key; such a word says nothing, and may well occur in a message.
  const withoutSecret = secret.length < 8 ? text : text.replaceAll(secret, "[key]");
  return withoutSecret
    .replaceAll(/\b(sk|key|pk)-[\w*.…-]{6,}/g, "[key]")
    .replaceAll(/\b(bearer|basic)\s+[\w*.+/=-]{6,}/gi, "$1 [key]")
    .replaceAll(/\/\/[^\s/@]*@/g, "//")
    .replaceAll(/<[^>]{0,200}>/g, " ")
    .replaceAll(hiddenCharacter, " ")
    .replaceAll(/\s+/g, " ")
    .toWellFormed()
    .trim()
    .slice(0, 300);
}
