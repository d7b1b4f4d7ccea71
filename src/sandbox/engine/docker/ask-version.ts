import { request, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { type EngineAddress, socketPath } from "./address.ts";
import { kindOf, type VersionAnswer } from "./answers.ts";
import { locateEngine } from "./locate.ts";
import type { Surroundings } from "../surroundings.ts";

const limitMs = 5_000;

/**
 * Kind and version of the engine at an address, such as `docker 29.1.0`, asked for without the library for all else,
 * which takes long to load. Rejects when nothing answers in time.
 */
export async function askVersion(address: EngineAddress): Promise<string> {
  const signal = AbortSignal.timeout(limitMs);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request({ socketPath: socketPath(address.url), path: "/version", agent: false, signal }, resolve)
    .once("error", (error) => reject(signal.aborted ? (signal.reason as Error) : error))
    .end();
  const answer = await promise;
  const words = await text(answer);
  if (answer.statusCode !== 200) throw new Error(`it answers with status ${answer.statusCode}: ${words.trim()}`);
  const { Version, Components } = JSON.parse(words) as VersionAnswer;
  return `${kindOf(Components)} ${Version}`;
}

/** Kind and version of the engine that `locateEngine` finds. */
export async function readDockerVersion(surroundings: Surroundings): Promise<string> {
  const answers: string[] = [];
  await locateEngine(surroundings, async (address) => answers.push(await askVersion(address)));
  return answers.join();
}
