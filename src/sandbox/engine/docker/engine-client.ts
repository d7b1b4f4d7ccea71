import Docker from "dockerode";
import { AppError, toError } from "../../../lib/app-error.ts";
import { type EngineAddress, socketPath } from "./address.ts";
import { EngineAgent } from "./engine-agent.ts";
import { EngineModem } from "./engine-modem.ts";

/** Errors of a daemon whose container half has ended or is still starting. */
const partsAway =
  /client connection is closing|transport is closing|context canceled|error reading from server|connection refused|shutting down/;

/** A name whose path would lead somewhere else. */
class ImproperName extends Error {}

/**
 * dockerode on the socket of one engine. Errors are AppErrors: `engine_unavailable` when there is no answer,
 * `engine_refused` with the engine's words. Disposal cuts all connections.
 */
export class EngineClient implements AsyncDisposable {
  readonly url: string;
  readonly #agent: EngineAgent;
  readonly #modem: EngineModem;

  constructor(address: EngineAddress) {
    this.url = address.url;
    this.#agent = new EngineAgent(socketPath(address.url));
    this.#modem = new EngineModem(this.#agent);
  }

  /** `action`: an infinitive for messages, "start container 12ab". The signal ends the requests that the call makes. */
  async ask<T>(action: string, signal: AbortSignal, call: (docker: Docker) => Promise<T>): Promise<T> {
    try {
      signal.throwIfAborted();
      return await call(new Docker({ modem: this.#modem.boundTo(signal) } as Docker.DockerOptions));
    } catch (thrown) {
      throw this.failure(signal.aborted ? signal.reason : thrown, action);
    }
  }

  /** Whatever went wrong, in the terms of the engine interface. */
  failure(thrown: unknown, action: string): AppError {
    if (thrown instanceof AppError) return thrown;
    const cause = toError(thrown);
    if (cause instanceof ImproperName) {
      const message = `crabpot does not ask the container engine to ${action}: that is not a valid name.`;
      return new AppError("engine_refused", message);
    }
    const status = statusOf(cause);
    const words = wordsOf(cause);
    // 502 to 504 come from a proxy in front of an engine that is not running.
    if (status === undefined || (status >= 502 && status <= 504)) {
      const message = `The container engine at ${this.url} did not answer when asked to ${action}: ${words}`;
      return new AppError("engine_unavailable", message, { cause, fix: "npm run setup" });
    }
    if (status === 500 && partsAway.test(words)) {
      const message = `The container engine at ${this.url} is starting or shutting down and could not ${action}: ${words}`;
      return new AppError("engine_unavailable", message, { cause });
    }
    return new AppError("engine_refused", `The container engine refused to ${action}: ${words}`, { cause });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent[Symbol.asyncDispose]();
  }
}

/**
 * An id or name as one segment of a path, whatever is in it. To be called within `ask`, which says what it was for:
 * what a path with empty or dotted segments leads to is different in each engine.
 */
export function pathSegment(name: string): string {
  if (/(^|\/)\.{0,2}(\/|$)/.test(name)) throw new ImproperName(name);
  return encodeURIComponent(name);
}

/** The HTTP status with which the engine refused, if that is what happened. */
export function refusalStatus(thrown: unknown): number | undefined {
  if (!(thrown instanceof AppError) || thrown.code !== "engine_refused") return undefined;
  return statusOf(thrown.cause);
}

function statusOf(error: unknown): number | undefined {
  const status = error instanceof Error && "statusCode" in error ? error.statusCode : undefined;
  return typeof status === "number" ? status : undefined;
}

/** The engine's own words: dockerode puts the status in front. */
function wordsOf(error: Error): string {
  const words = error.message.replace(/^\(HTTP code \d+\) .*? - /, "").trim();
  if (words !== "") return words;
  if ("reason" in error && typeof error.reason === "string") return error.reason;
  return error.message.trim();
}
