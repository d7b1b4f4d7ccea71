import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { expect, test } from "vitest";

import { createTransport } from "../../../../src/models/wire/transport.ts";

async function answerOf(parts: readonly string[], init: RequestInit = {}): Promise<string> {
  const server = createServer((_request, response) => {
    for (const part of parts) response.write(part);
    response.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const send = createTransport({ headers: {}, silenceMs: 120_000 });
    const answer = await send(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, init);
    return await answer.text();
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("a streamed answer of many megabytes is taken, but not a single event of them", async () => {
  const part = "x".repeat(500_000);
  const ask = { method: "POST", body: "{}" };

  const inEvents = await answerOf(
    Array.from({ length: 40 }, () => `data: ${part}\n\n`),
    ask,
  );
  const inOneEvent = answerOf(["data: ", ...Array.from({ length: 40 }, () => part)], ask);

  expect(inEvents).toHaveLength(40 * (part.length + "data: \n\n".length));
  await expect(inOneEvent).rejects.toThrow("an event of the answer is larger than 1 MiB");
});

test("an answer that is read as a whole may have two megabytes", async () => {
  const part = "x".repeat(1024 * 1024);

  const small = await answerOf([part, part]);
  const large = answerOf([part, part, "x"]);

  expect(small).toHaveLength(2 * part.length);
  await expect(large).rejects.toThrow("the answer is larger than 2 MiB");
});
