import { Agent, type IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { inspect } from "node:util";
import Docker from "dockerode";
import { AppError, toError } from "../../lib/app-error.ts";
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
  readonly query?: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  /** Sent as JSON. */
  readonly body?: object;
  /** Sent as a tar archive instead of a body. */
  readonly archive?: Readable;
}

/**
 * The client library describes each request in full for a log that nobody reads, with all that its agent leads to: ten times
 * the work of the request itself.
 */
class PlainAgent extends Agent {
  [inspect.custom](): string {
    return "Agent";
  }
}

/** The part of the client library that every request goes through. */
interface Dialler {
  dial(request: object, answered: (error: Error | null, answer: unknown) => void): void;
}

/**
 * The way to one engine. Each request opens its own connection, so that a restart of the engine between two requests is
 * not noticed. Errors are AppErrors: `engine_unavailable` when there is no answer, `engine_refused` with the engine's words.
 */
export class EngineConnection {
  readonly url: string;
  readonly #modem: Dialler;

  constructor({ url }: EngineAddress) {
    const { hostname, port, pathname } = new URL(url);
    const local = url.startsWith("unix:");
    // Everything is set, `undefined` included, because the library fills gaps from the process's environment.
    const options = {
      socketPath: local ? decodeURIComponent(pathname) : undefined,
      host: local ? undefined : hostname,
      port: port || "2375",
      protocol: "http" as const,
      pathPrefix: "/",
      username: undefined,
      ca: undefined,
      cert: undefined,
      key: undefined,
      timeout: undefined,
      agent: new PlainAgent({ keepAlive: false }),
    };
    this.url = url;
    this.#modem = new Docker(options).modem;
  }

  /** The answer as soon as its head is there; the body is for the caller to read. The signal ends all of it. */
  async open(request: EngineRequest, signal: AbortSignal): Promise<IncomingMessage> {
    refuseImproperPath(request);
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const dial = {
      method: request.method,
      path: `${request.path}?`,
      options: { _query: request.query ?? {}, _body: request.body ?? {} },
      file: request.archive,
      abortSignal: signal,
      isStream: true,
      statusCodes: { 200: true, 201: true, 204: true },
    };
    this.#modem.dial(dial, (error, answer) => (error ? reject(error) : resolve(answer as IncomingMessage)));
    try {
      return await unlessAborted(promise, signal);
    } catch (thrown) {
      throw this.failure(thrown, request.action);
    }
  }

  /** The answer's body: JSON, or undefined when it is empty. */
  async ask(request: EngineRequest, signal: AbortSignal): Promise<unknown> {
    const answer = await this.open(request, signal);
    try {
      const body = await unlessAborted(text(answer), signal);
      return body.trim() === "" ? undefined : (JSON.parse(body) as unknown);
    } catch (thrown) {
      throw this.failure(thrown, request.action);
    }
  }

  /** Whatever went wrong, in the terms of the engine interface. */
  failure(thrown: unknown, action: string): AppError {
    if (thrown instanceof AppError) return thrown;
    const cause = toError(thrown);
    const { statusCode } = cause as { statusCode?: number };
    // 502 to 504 come from a proxy in front of an engine that is not running.
    if (statusCode === undefined || (statusCode >= 502 && statusCode <= 504)) {
      const message = `The container engine at ${this.url} did not answer when asked to ${action}: ${cause.message.trim()}`;
      return new AppError("engine_unavailable", message, { cause, fix: "npm run setup" });
    }
    if (statusCode === 500 && partsAway.test(cause.message)) {
      const message = `The container engine at ${this.url} is going down or coming up and could not ${action}: ${cause.message.trim()}`;
      return new AppError("engine_unavailable", message, { cause });
    }
    const words = cause.message.replace(/^\(HTTP code \d+\) \S+ - /, "").trim();
    return new AppError("engine_refused", `The container engine refused to ${action}: ${words}`, { cause });
  }
}

/**
 * The engine answers a path with empty or dotted segments by a redirect, which the client library would follow to a host
 * of the first segment's name.
 */
function refuseImproperPath({ action, path }: EngineRequest): void {
  if (!/\/\.{0,2}(\/|$)/.test(decodeURIComponent(path))) return;
  throw new AppError("engine_refused", `crabpot does not ask the container engine to ${action}: that is not a name.`);
}

/** The HTTP status with which the engine refused, if that is what happened. */
export function refusalStatus(thrown: unknown): number | undefined {
  if (!(thrown instanceof AppError) || thrown.code !== "engine_refused") return undefined;
  return (thrown.cause as { statusCode?: number } | undefined)?.statusCode;
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

/** The result of `work`, or a rejection as soon as the signal is aborted, even when `work` never settles. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort);
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
