import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

import { AppError } from "../../src/lib/app-error.ts";

/** None of those that the system gives to whoever asks for any, so that nobody gets it by chance meanwhile. */
const range = [12_000, 32_000] as const;

/** A port of this machine on which nothing listened a moment ago. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = randomInt(...range);
    const server = createServer().listen(port, "127.0.0.1");
    const isFree = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
  throw new AppError("conflict", `No port from ${range[0]} to ${range[1]} is free.`);
}
