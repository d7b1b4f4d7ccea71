import { connect } from "node:net";
import { text as readText } from "node:stream/consumers";

import pino from "pino";
import { Registry } from "prom-client";
import { expect, test } from "vitest";

import { createGatewayServer } from "../../../../src/surfaces/http/server.ts";
import { systemClock } from "../../../../src/lib/time/clock.ts";

test("a thousand programs that come at once are all answered", async () => {
  await using server = createGatewayServer({
    host: "127.0.0.1",
    port: 0,
    token: "s3cret-of-the-tests",
    ready: async () => ({ ready: true, reasons: [] }),
    metrics: new Registry(),
    clock: systemClock,
    logger: pino({ level: "silent" }),
  });
  const { port } = await server.listen();

  const answers = await Promise.all(
    Array.from({ length: 1_000 }, async () => {
      const socket = connect(port, "127.0.0.1");
      // Without waiting for the others: who says nothing for five seconds is hung up on.
      socket.write("GET /health/live HTTP/1.1\r\nhost: it\r\nconnection: close\r\n\r\n");
      return (await readText(socket)).split("\r\n", 1)[0];
    }),
  );

  expect(new Set(answers)).toEqual(new Set(["HTTP/1.1 200 OK"]));
});
