import {
  Agent,
  request as openRequest,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
} from "node:http";
import { pipeline, type Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { AppError, toError } from "../../../lib/app-error.ts";
import type { EngineAddress } from "./locate.ts";

const pingLimitMs = 5_000;
/** What a daemon says of which the other half, the part that runs containers, has ended already or is not there yet. */
const partsAway =
  /client connection is closing|transport is closing|context canceled|error reading from server|connection refused|shutting down/;

/** A request of the Engine API. */
export interface EngineRequest {
  /** Infinitive for messages: "start container 12ab". */
  readonly action: string;
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  /** Sent as JSON. */
  readonly body?: object;
  /** Sent as a tar archive instead of a body. */
  readonly archive?: Readable;
}

/** An answer of the engine that is not a success, with its words. */
class Refusal extends Error {
  readonly statusCode: number;

  constructor(statusCode: number, words: string) {
    super(words);
    this.statusCode = statusCode;
  }
}

/**
 * The way to one engine. Each request opens its own connection, so that a restart of the engine between two requests is
 * not noticed. Errors are AppErrors: `engine_unavailable` when there is no answer, `engine_refused` with the engine's words.
 */
export class EngineConnection {
  readonly url: string;
  readonly #options: RequestOptions;

  constructor({ url }: EngineAddress) {
    const { hostname, port, pathname } = new URL(url);
    const place = url.startsWith("unix:")
      ? { socketPath: decodeURIComponent(pathname) }
      : { host: hostname, port: port || "2375" };
    this.url = url;
    this.#options = { ...place, agent: new Agent({ keepAlive: false }) };
  }

  /** The answer as soon as its head is there; the body is for the caller to read. The signal ends all of it. */
  async open({ action, ...request }: EngineRequest, signal: AbortSignal): Promise<IncomingMessage> {
    try {
      refuseImproperPath(action, request.path);
      signal.throwIfAborted();
      const query = Object.entries(request.query ?? {}).map(([name, value]): [string, string] => [name, String(value)]);
      const path = `${request.path}?${new URLSearchParams(query).toString()}`;
      const answer = await send(openRequest({ ...this.#options, method: request.method, path, signal }), request);
      const { statusCode = 0 } = answer;
      if (statusCode >= 200 && statusCode < 300) return answer;
      throw new Refusal(statusCode, wordsOf(await text(answer)) || String(answer.statusMessage));
    } catch (thrown) {
      throw this.failure(signal.aborted ? signal.reason : thrown, action);
    }
  }

  /** The answer's body: JSON, or undefined when it is empty. */
  async ask(request: EngineRequest, signal: AbortSignal): Promise<unknown> {
    const answer = await this.open(request, signal);
    try {
      const body = await text(answer);
      return body.trim() === "" ? undefined : (JSON.parse(body) as unknown);
    } catch (thrown) {
      throw this.failure(signal.aborted ? signal.reason : thrown, request.action);
    }
  }

  /** Whatever went wrong, in the terms of the engine interface. */
  failure(thrown: unknown, action: string): AppError {
    if (thrown instanceof AppError) return thrown;
    const cause = toError(thrown);
    const statusCode = cause instanceof Refusal ? cause.statusCode : undefined;
    // 502 to 504 come from a proxy in front of an engine that is not running.
    if (statusCode === undefined || (statusCode >= 502 && statusCode <= 504)) {
      const message = `The container engine at ${this.url} did not answer when asked to ${action}: ${cause.message}`;
      return new AppError("engine_unavailable", message, { cause, fix: "npm run setup" });
    }
    if (statusCode === 500 && partsAway.test(cause.message)) {
      const message = `The container engine at ${this.url} is going down or coming up and could not ${action}: ${cause.message}`;
      return new AppError("engine_unavailable", message, { cause });
    }
    return new AppError("engine_refused", `The container engine refused to ${action}: ${cause.message}`, { cause });
  }
}

/** What a path with empty or dotted segments leads to is different in each engine. */
function refuseImproperPath(action: string, path: string): void {
  if (!/\/\.{0,2}(\/|$)/.test(decodeURIComponent(path))) return;
  throw new AppError("engine_refused", `crabpot does not ask the container engine to ${action}: that is not a name.`);
}

/** The HTTP status with which the engine refused, if that is what happened. */
export function refusalStatus(thrown: unknown): number | undefined {
  if (!(thrown instanceof AppError) || thrown.code !== "engine_refused") return undefined;
  return thrown.cause instanceof Refusal ? thrown.cause.statusCode : undefined;
}

/** Rejects with the cause when nothing answers at the address within five seconds. */
export async function ping(address: EngineAddress): Promise<void> {
  const request = { action: "answer", method: "GET", path: "/version" } as const;
  try {
    await new EngineConnection(address).ask(request, AbortSignal.timeout(pingLimitMs));
  } catch (thrown) {
    throw toError(thrown).cause ?? thrown;
  }
}

async function send(request: ClientRequest, { body, archive }: Partial<EngineRequest>): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request.on("response", resolve).on("error", reject);
  if (archive) {
    request.setHeader("Content-Type", "application/x-tar");
    pipeline(archive, request, (error) => error && reject(error));
  } else if (body) {
    request.setHeader("Content-Type", "application/json").end(JSON.stringify(body));
  } else {
    request.end();
  }
  return promise;
}

/** What the engine says in an answer: JSON with a message, or plain words. */
function wordsOf(body: string): string {
  try {
    return (JSON.parse(body) as { message: string }).message.trim();
  } catch {
    return body.trim();
  }
}
