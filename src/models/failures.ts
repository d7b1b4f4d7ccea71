import type { Clock } from "../lib/time/clock.ts";
import { hiddenCharacter } from "../lib/text/hidden-characters.ts";
import { ProviderError } from "./provider.ts";
import type { ProviderFailure } from "./provider.ts";
import { SilenceError } from "./transport.ts";

/** What a vendor's refusal consists of, as far as it is known; a failure in the middle of a stream has no status. */
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
  insufficient_quota: "auth",
  invalid_api_key: "auth",
  invalid_request_error: "invalid",
  not_found_error: "invalid",
  overloaded_error: "overloaded",
  permission_error: "auth",
  rate_limit_error: "rate-limited",
  rate_limit_exceeded: "rate-limited",
  request_too_large: "too-long",
};

/** No vendor has a code of its own for this in every case; these are the words that Anthropic, OpenAI, vLLM and Ollama use. */
const tooLong =
  /context.?(length|window|size)|maximum context|prompt is too long|too many (input )?tokens|input (is|was) too long|input length/i;

/** Sorts a vendor's refusal into what the calls act on. */
function failureOf(failure: Pick<VendorFailure, "status" | "kinds" | "message">): ProviderFailure {
  const { status, kinds, message } = failure;
  const named = kinds.map((kind) => byKind[kind]).filter((found) => found !== undefined);
  // A used-up account answers 429, but no waiting helps.
  const final = named.find((found) => found === "auth" || found === "too-long");
  const found = final ?? (status === undefined ? named[0] : ofStatus(status)) ?? "unavailable";
  return found === "invalid" && tooLong.test(message) ? "too-long" : found;
}

function ofStatus(status: number): ProviderFailure {
  return byStatus[status] ?? (status >= 500 ? "unavailable" : "invalid");
}

/**
 * How long the vendor asks to wait, milliseconds: `retry-after-ms`, or `retry-after` in seconds or as an HTTP date (counted
 * from the answer's own `date`, where it has one, so that a wrong clock on either side does not matter).
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

function toNumber(text: string | null | undefined): number | undefined {
  return text !== null && text !== undefined && /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : undefined;
}

interface ExplainOptions {
  readonly vendor: string;
  /** Of the call. */
  readonly signal: AbortSignal;
  readonly safe: { readonly secret: string; readonly clock: Clock };
  /** What the vendor answered, where the error says so; undefined: the connection failed, or what came cannot be read. */
  readonly answered: VendorFailure | undefined;
}

/** What a provider throws for what its vendor's SDK threw: the signal's reason, a ProviderError as it is, or one that is safe to log and to show. */
export function explainFailure(error: unknown, { vendor, signal, safe, answered }: ExplainOptions): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof ProviderError) return error;
  return answered === undefined ? brokenConnection(vendor, error, safe.secret) : refusal(vendor, answered, safe);
}

/** Turns what a vendor refused into an error whose text is safe to log and to show. */
function refusal(vendor: string, failure: VendorFailure, safe: { secret: string; clock: Clock }): ProviderError {
  const what = failure.status === undefined ? "broke off with an error" : `answered ${failure.status}`;
  return new ProviderError(
    failureOf(failure),
    `${vendor} ${what}: ${scrub(failure.message, safe.secret) || "no reason given"}`,
    { retryAfterMs: retryAfterMs(failure.headers, safe.clock) },
  );
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
