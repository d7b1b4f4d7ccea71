import { connect } from "node:net";
import { text as readText } from "node:stream/consumers";

import pino from "pino";
import { Registry } from "prom-client";
import { expect, test } from "vitest";

import type { HttpRefusal } from "../../../../src/surfaces/http/refusals.ts";
import { createGatewayServer } from "../../../../src/surfaces/http/server.ts";
import { systemClock } from "../../../../src/lib/time/clock.ts";

const token = "s3cret-of-the-tests";

/** Sends each set of header lines to a gateway that is also `crab.example`; the statuses, and what was refused. */
async function ask(
  path: string,
  requests: readonly (readonly string[])[],
  protocol = "HTTP/1.1",
): Promise<{ statuses: number[]; answers: string[]; refused: HttpRefusal[] }> {
  const refused: HttpRefusal[] = [];
  await using server = createGatewayServer({
    host: "127.0.0.1",
    port: 0,
    names: ["crab.example"],
    token,
    ready: async () => ({ ready: true, reasons: [] }),
    metrics: new Registry(),
    clock: systemClock,
    logger: pino({ level: "silent" }),
    onRefused: (refusal) => refused.push(refusal),
  });
  const { host, port } = await server.listen();
  const answers = await Promise.all(
    requests.map((lines) => {
      const socket = connect({ host, port });
      const head = [`GET ${path} ${protocol}`, ...lines, `authorization: Bearer ${token}`, "connection: close"];
      socket.end(`${head.join("\r\n")}\r\n\r\n`);
      return readText(socket);
    }),
  );
  return { answers, refused, statuses: answers.map((answer) => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1])) };
}

test("a request is for an address, for localhost or for a name that is configured", async () => {
  const own = [
    "127.0.0.1",
    "127.0.0.1:7788",
    "[::1]:80",
    "localhost",
    "LocalHost:1",
    "crab.example",
    "CRAB.example:443",
  ];

  const { statuses } = await ask(
    "/metrics",
    own.map((host) => [`host: ${host}`]),
  );

  expect(statuses).toEqual(own.map(() => 200));
});

test("a right token does not help a page whose name was made to point here", async () => {
  const foreign = [
    "evil.example",
    "evil.example:7788",
    "localhost.",
    "localhost.evil.example",
    "crab.example.",
    "x.crab.example",
    "crab.example@evil.example",
    "localhost@evil.example",
    "127.0.0.1.evil.example",
    "127.1",
    "0x7f000001",
    "2130706433",
    "[::1",
    "[fe80::1%eth0]",
    "localhost:port",
    "localhost:99999",
    "localhost:80:80",
    "localhost, evil.example",
    "localhost/x",
    "ｌocalhost",
    "",
  ];

  const { statuses, answers, refused } = await ask(
    "/metrics",
    foreign.map((host) => [`host: ${host}`]),
  );

  expect(statuses).toEqual(foreign.map(() => 421));
  expect(answers[0]).toContain('"code":"misdirected"');
  expect(answers[0]).toContain("gateway.names in config.yaml");
  expect(refused).toContainEqual({ status: 421, method: "GET", route: "/metrics", address: "127.0.0.1", untold: 0 });
});

test("a target that names a host is for that one", async () => {
  const statuses = [];
  for (const target of [
    "http://evil.example/metrics",
    "HTTPS://evil.example/metrics",
    "http://localhost:1/metrics",
    "http://localhost@evil.example/metrics",
    "http:///metrics",
    "evil.example/metrics",
    "http://LocalHost/metrics",
    "/metrics",
  ])
    statuses.push(...(await ask(target, [["host: localhost"]])).statuses);

  expect(statuses).toEqual([421, 421, 421, 421, 400, 400, 200, 200]);
});

test("two names, or none, are refused, whichever of the two is right", async () => {
  const { statuses } = await ask("/metrics", [
    ["host: localhost", "host: evil.example"],
    ["host: evil.example", "host: localhost"],
    ["host: localhost", "Host: localhost"],
    [],
  ]);
  const old = await ask("/metrics", [[], ["x-forwarded-host: localhost"]], "HTTP/1.0");

  expect([...statuses, ...old.statuses]).toEqual([400, 400, 400, 400, 400, 400]);
});

test("health checks come under any one name", async () => {
  const { statuses } = await ask("/health/live", [
    ["host: balancer.example"],
    ["host: localhost", "host: evil.example"],
    ["host: localhost", "origin: https://evil.example"],
  ]);
  const old = await ask("/health/live", [[]], "HTTP/1.0");

  expect([...statuses, ...old.statuses]).toEqual([200, 400, 200, 200]);
});

test("a browser may not ask for a foreign page", async () => {
  const host = "host: localhost:7788";
  const { statuses, answers } = await ask("/metrics", [
    [host, "origin: https://evil.example"],
    [host, "origin: null"],
    [host, "origin: http://localhost:3000"],
    [host, "origin: http://localhost:7788", "origin: https://evil.example"],
    [host, "origin: http://localhost:7788@evil.example"],
    [host, "origin: file://localhost:7788"],
    [host, "sec-fetch-site: cross-site"],
    [host, "sec-fetch-site: same-site"],
    [host, "sec-fetch-site: none", "sec-fetch-site: cross-site"],
  ]);
  const own = await ask("/metrics", [
    [host, "origin: http://localhost:7788", "sec-fetch-site: same-origin"],
    ["host: crab.example", "origin: https://crab.example"],
    [host, "sec-fetch-site: none"],
    [host, "x-forwarded-for: 1.2.3.4", "x-forwarded-host: evil.example", "x-forwarded-proto: https"],
  ]);

  expect(statuses).toEqual(statuses.map(() => 403));
  expect(answers[0]).toContain('"code":"forbidden"');
  expect(own.statuses).toEqual([200, 200, 200, 200]);
});
