import type { IncomingMessage } from "node:http";
import { inspect } from "node:util";
import DockerModem from "docker-modem";
import type { EngineAgent } from "./engine-agent.ts";

type BuildRequest = (this: object, options: object, ...rest: unknown[]) => void;

/**
 * docker-modem without its constructor, which looks for an engine in the environment of the process and reads its keys.
 */
const Bare = function () {} as unknown as typeof DockerModem;
Bare.prototype = DockerModem.prototype;

/**
 * The library describes each request in full for a log that is off, with all that its agent leads to: more work than
 * the request itself.
 */
const buildRequest: BuildRequest = function (options, ...rest) {
  const library = DockerModem.prototype as unknown as { readonly buildRequest: BuildRequest };
  library.buildRequest.call(this, Object.assign(options, { [inspect.custom]: () => "a request" }), ...rest);
};

/** docker-modem as the part of dockerode that makes the requests, with what it lacks. */
export class EngineModem extends Bare {
  constructor(agent: EngineAgent) {
    super();
    const headers = { Host: "localhost" };
    // The agent knows where the engine is; the path, which it ignores, keeps the library from looking for a host.
    Object.assign(this, { agent, headers, protocol: "http", socketPath: "/", buildRequest });
  }

  /** The same, with a signal that ends each request: dockerode has no place for one in some of its calls. */
  boundTo(abortSignal: AbortSignal): EngineModem {
    const bound = Object.create(this) as EngineModem;
    bound.dial = (options, answered) => this.dial({ ...options, abortSignal }, answered);
    return bound;
  }

  /**
   * The library never calls back for an answer that breaks off in its middle, whatever signal or time limit it has, and
   * takes what is not JSON for bytes. So all requests are made as streams, and their answers read here.
   */
  override dial(options: DockerModem.DialOptions, answered: DockerModem.RequestCallback): void {
    if (options.isStream) return super.dial(options, answered);
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    super.dial({ ...options, isStream: true }, (error, answer) =>
      error ? reject(error) : resolve(answer as IncomingMessage),
    );
    promise
      .then(readJson)
      .then((value) => answered(null, value))
      // What the library does with an answer may throw as well.
      .catch((failure: Error) => answered(failure, null));
  }
}

/** Parses a JSON body; null when empty. */
async function readJson(answer: IncomingMessage): Promise<object | null> {
  const body = await readBody(answer);
  return body.trim() === "" ? null : (JSON.parse(body) as object);
}

/**
 * By events: half the work of reading it as a stream of the web's kind, and this is done several times for each
 * container.
 */
async function readBody(answer: IncomingMessage): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  answer.on("data", (chunk: Buffer) => chunks.push(chunk));
  answer.once("end", () => resolve(Buffer.concat(chunks).toString()));
  answer.once("error", reject);
  answer.once("close", () => reject(new Error("the answer broke off")));
  return promise;
}
