import { once } from "node:events";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";

/** A request of the Engine API that the host itself never makes. Throws with the engine's words when it refuses. */
export async function askEngine(socketPath: string, method: string, path: string): Promise<string> {
  return text(await openEngineAnswer(socketPath, method, path));
}

/** The same, for an answer that is long. */
export async function openEngineAnswer(socketPath: string, method: string, path: string): Promise<IncomingMessage> {
  const asking = request({ socketPath, method, path }).end();
  const [answer] = (await once(asking, "response")) as [IncomingMessage];
  if ((answer.statusCode ?? 500) < 400) return answer;
  throw new Error(`${method} ${path}: ${answer.statusCode} ${await text(answer)}`);
}
