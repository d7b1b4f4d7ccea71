import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { expect, test } from "vitest";

import { createTransport } from "../../../src/models/transport.ts";

async function answerOf(parts: readonly string[]): Promise<string> {
  const server = createServer((_request, response) => {
    for (const part of parts) response.write(part);
    response.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const send = createTransport({ headers: {}, silenceMs: 10_000 });
    const answer = await send(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    return await answer.text();
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("an answer of many megabytes is taken, but not a single line of them", async () => {
  const part = "x".repeat(1024 * 1024);

  const inLines = await answerOf(Array.from({ length: 20 }, () => `${part}\n`));
  const inOneLine = answerOf(Array.from({ length: 20 }, () => part));

  expect(inLines).toHaveLength(20 * (part.length + 1));
  await expect(inOneLine).rejects.toThrow(/larger than 2 MiB|terminated/);
});
