import { createConnection } from "node:net";
import { text } from "node:stream/consumers";

import type { Attack } from "../suite/attack.ts";
import type { Stage } from "../suite/stage.ts";

/** The statuses that requests with these header lines and the right token get. */
async function statusesOf(
  stage: Stage,
  requests: readonly (readonly string[])[],
  protocol = "1.1",
  target = "/metrics",
): Promise<number[]> {
  const { hostname, port } = new URL(stage.host.url);
  const { authorization } = stage.authorization;
  return Promise.all(
    requests.map(async (lines) => {
      const socket = createConnection({ host: hostname, port: Number(port) });
      const head = [`GET ${target} HTTP/${protocol}`, ...lines, `authorization: ${authorization}`, "connection: close"];
      socket.end(`${head.join("\r\n")}\r\n\r\n`, "latin1");
      return Number(/^HTTP\/1\.1 (\d{3})/.exec(await text(socket))?.[1] ?? 0);
    }),
  );
}

function judge(statuses: readonly number[], wanted: readonly number[]): { seen: string; holds: boolean } {
  const counts = [...new Set(statuses)].map(
    (status) => `${status} × ${statuses.filter((one) => one === status).length}`,
  );
  return { seen: counts.join(", "), holds: statuses.every((status) => wanted.includes(status)) };
}

function refusedWith(status: number): Attack["audit"] {
  return { type: "http-refused", where: ({ data }) => data["status"] === status };
}

export const attacks: readonly Attack[] = [
  {
    id: "I22",
    title:
      "a foreign name that was made to point here (DNS rebinding), and names that look like ours, with the right token",
    from: "program",
    expected: "421, which says what to configure",
    audit: refusedWith(421),
    quick: true,
    attempt: async (stage) => {
      const port = new URL(stage.host.url).port;
      const names = [
        "evil.example",
        `evil.example:${port}`,
        "localhost.",
        "LOCALHOST.evil.example",
        "127.0.0.1.evil.example",
        "localhost@evil.example",
        `127.0.0.1:${port}@evil.example`,
        "localhost:port",
        "localhost:99999",
        "127.1",
        "2130706433",
        "0x7f.0.0.1",
        "[::1",
        "",
        "evil.example,localhost",
      ];
      const { seen, holds } = judge(
        await statusesOf(
          stage,
          names.map((name) => [`host: ${name}`]),
        ),
        [421],
      );
      const own = await statusesOf(stage, [[`host: LocalHost:${port}`], ["host: 127.0.0.1"], [`host: [::1]:${port}`]]);
      return { seen: `${seen}; own names ${own.join(" ")}`, holds: holds && own.every((status) => status === 200) };
    },
  },
  {
    id: "I23",
    title: "two Host headers, the right one first or last, the same one twice, none, none of HTTP/1.0",
    from: "program",
    expected: "400",
    audit: refusedWith(400),
    attempt: async (stage) => {
      const statuses = await statusesOf(stage, [
        ["host: localhost", "host: evil.example"],
        ["host: evil.example", "host: localhost"],
        ["host: localhost", "HOST: localhost"],
        [],
      ]);
      return judge([...statuses, ...(await statusesOf(stage, [[], ["x-forwarded-host: localhost"]], "1.0"))], [400]);
    },
  },
  {
    id: "I24",
    title: "a page of another place in a browser: Origin and Sec-Fetch-Site in all forms",
    from: "program",
    expected: "403 with the right token too",
    audit: refusedWith(403),
    quick: true,
    attempt: async (stage) => {
      const { host } = new URL(stage.host.url);
      const lines = [
        "origin: https://evil.example",
        "origin: null",
        `origin: http://${host}.evil.example`,
        `origin: http://${host}@evil.example`,
        "origin: http://127.0.0.1:1",
        "origin:",
        "sec-fetch-site: cross-site",
        "sec-fetch-site: same-site",
        "sec-fetch-site: CROSS-SITE",
      ];
      return judge(
        await statusesOf(
          stage,
          lines.map((line) => [`host: ${host}`, line]),
        ),
        [403],
      );
    },
  },
  {
    id: "I25",
    title: "headers that claim another address, host or scheme, as from a proxy",
    from: "program",
    expected: "not believed: the record has the address of the connection",
    audit: {
      type: "http-refused",
      where: ({ actor, data }) => actor === "address:127.0.0.1" && data["status"] === 421,
    },
    attempt: async (stage) => {
      const before = (await stage.recordsAfter(0)).at(-1)?.seq ?? 0;
      const claims = ["x-forwarded-for: 6.6.6.6", "x-real-ip: 6.6.6.6", "forwarded: for=6.6.6.6;host=localhost"];
      await statusesOf(stage, [["host: evil.example", "x-forwarded-host: localhost", ...claims]]);
      await stage.ask("blue", "@crab hello");
      const believed = (await stage.recordsAfter(before)).filter((record) =>
        JSON.stringify(record).includes("6.6.6.6"),
      );
      return { seen: `${believed.length} records believe it`, holds: believed.length === 0 };
    },
  },
  {
    id: "I27",
    title: "a target that names a foreign host, as to a proxy, under a right Host and with the right token",
    from: "program",
    expected: "421",
    audit: refusedWith(421),
    quick: true,
    attempt: async (stage) => {
      const { host } = new URL(stage.host.url);
      const targets = [
        `http://evil.example/metrics`,
        `https://127.0.0.1.evil.example/metrics`,
        `http://localhost:1/metrics`,
      ];
      const statuses = [];
      for (const target of targets) statuses.push(...(await statusesOf(stage, [[`host: ${host}`]], "1.1", target)));
      return judge(statuses, [421]);
    },
  },
];
