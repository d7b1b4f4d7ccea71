import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import DockerModem from "docker-modem";
import type { EngineAgent } from "./engine-agent.ts";

/** docker-modem without its constructor, which looks for an engine in the environment of the process and reads its keys. */
const Bare = function () {} as unknown as typeof DockerModem;
Bare.prototype = DockerModem.prototype;

/** docker-modem as the part of dockerode that makes the requests, with what it lacks. */
export class EngineModem extends Bare {
  constructor(agent: EngineAgent) {
    super();
    const headers = { Host: agent.authority };
    // The agent alone knows where the engine is; the path, which it ignores, keeps the library from looking for a host.
    Object.assign(this, { agent, headers, protocol: "http", socketPath: "/" });
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

/** Of an empty body: null. */
async function readJson(answer: IncomingMessage): Promise<object | null> {
  const body = await text(answer);
  return body.trim() === "" ? null : (JSON.parse(body) as object);
}
