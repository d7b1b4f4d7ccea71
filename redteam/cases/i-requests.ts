import { createConnection } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

import type { Attack } from "../suite/attack.ts";
import type { Stage } from "../suite/stage.ts";

const path = "/v1/channels/http/messages";

function message(id: string, more = ""): string {
  return `{"id":"${id}","group":"red","sender":{"id":"mallory","name":"M"},"text":"smuggled"${more}}`;
}

/** Sends bytes as they are; all that comes back until the other side closes or says nothing for a while. */
async function exchange(stage: Stage, bytes: string, patienceMs = 1_500): Promise<string> {
  const { hostname, port } = new URL(stage.host.url);
  // Its own address, so that the suite itself is not locked out for wrong logins.
  const socket = createConnection({ host: hostname, port: Number(port), localAddress: "127.0.0.8" });
  let answer = "";
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on("data", (chunk: Buffer) => void (answer += chunk.toString("latin1")));
  socket.on("error", () => socket.destroy()).on("close", () => resolve());
  socket.setTimeout(patienceMs, () => socket.destroy());
  socket.write(bytes, "latin1");
  await promise;
  return answer;
}

export const attacks: readonly Attack[] = [
  {
    id: "I17",
    title: "requests that two readers would read differently, each with a second request hidden in its body",
    from: "program",
    expected: "the hidden one is never a request with the token of the first",
    audit: { type: "http-refused" },
    attempt: async (stage) => {
      const { authorization } = stage.authorization;
      const hidden = `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${message("i17-hidden").length}\r\n\r\n${message("i17-hidden")}`;
      const start = (method: string): string =>
        `${method} ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: ${authorization}\r\ncontent-type: application/json\r\n`;
      const framings = [
        `${start("POST")}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
        `${start("POST")}content-length: 0\r\ncontent-length: ${hidden.length}\r\n\r\n${hidden}`,
        `${start("POST")}transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n${hidden}`,
        `${start("POST")}transfer-encoding : chunked\r\n\r\n0\r\n\r\n${hidden}`,
        `${start("POST")}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n${hidden}`,
        `${start("POST")}content-length: +0\r\n\r\n${hidden}`,
        `${start("GET")}content-length: ${hidden.length}\r\n\r\n${hidden}`,
        `${start("POST")}x: a\r\n content-length: 0\r\n\r\n${hidden}`,
        `${start("POST")}x: a\n\n${hidden}`,
        `${start("POST")}transfer-encoding: chunked\r\n\r\n0;${"x".repeat(20_000)}\r\n\r\n${hidden}`,
        `GET /health/live\r\n\r\n${hidden}`,
        `${start("GET")}connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n\r\n${hidden}`,
        `${start("GET")}connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: x\r\n\r\n${hidden}`,
        `${start("POST")}expect: 200-maybe\r\ncontent-length: 0\r\n\r\n${hidden}`,
      ];
      const answers = await Promise.all(framings.map((bytes) => exchange(stage, bytes)));
      const taken = answers.filter((answer) => / 202 |101 Switching/.test(answer)).length;
      const isStored = (await stage.recordsAfter(0)).some(({ data }) => String(data["id"]).includes("i17-hidden"));
      return { seen: `${taken} of ${answers.length} taken`, holds: taken === 0 && !isStored };
    },
  },
  {
    id: "I18",
    title: "the token twice, in capitals, with blanks, cut, lengthened, in the query; a bearer of another scheme",
    from: "program",
    expected: "only exactly the token is one",
    audit: { type: "http-refused", where: ({ data }) => data["status"] === 401 || data["status"] === 400 },
    attempt: async (stage) => {
      const { token } = stage.canaries;
      const lines = [
        `authorization: Bearer wrong\r\nauthorization: Bearer ${token}`,
        `authorization: Bearer ${token}x`,
        `authorization: Bearer ${token.slice(0, -1)}`,
        `authorization: Bearer ${token.toUpperCase()}`,
        `authorization: Bearer ${token} ${token}`,
        `authorization: Bearer\t\t`,
        `authorization: ${token}`,
        `authorization: Token ${token}`,
        `proxy-authorization: Bearer ${token}`,
        `x-forwarded-for: 127.0.0.1\r\nx-original-url: /health/live`,
        `authorization: Bearer ${"x".repeat(8_000)}`,
      ];
      const asked = lines.map((line) =>
        exchange(stage, `GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n${line}\r\n\r\n`),
      );
      const open = (await Promise.all(asked)).flatMap((answer, index) =>
        answer.startsWith("HTTP/1.1 2") ? [lines[index]?.slice(0, 30)] : [],
      );
      return { seen: open.join("; ") || `${lines.length} refused`, holds: open.length === 0 };
    },
  },
  {
    id: "I19",
    title: "replies asked for with cursors and waits that are negative, endless, lists, objects, twice",
    from: "program",
    expected: "400, or an answer at once; nobody waits for ever",
    audit: { type: "http-refused", where: ({ data }) => data["status"] === 400 },
    attempt: async (stage) => {
      const queries = [
        "after=-1",
        "after=1e309",
        "after=NaN",
        "after=0&after=1",
        "after[$gt]=0",
        "wait=-1",
        "wait=1e9",
        "wait=Infinity",
        "after=0x10",
        "after=1;drop table replies",
        "__proto__[x]=1",
        "after=%00",
        `after=${"9".repeat(400)}`,
      ];
      const answers = await Promise.all(
        queries.map((query) => stage.request(`/v1/channels/http/replies?${query}`, { headers: stage.authorization })),
      );
      const odd = answers.flatMap(({ status }, index) =>
        status === 400 || status === 200 ? [] : [`${queries[index]}: ${status}`],
      );
      return { seen: odd.join("; ") || answers.map(({ status }) => status).join(" "), holds: odd.length === 0 };
    },
  },
  {
    id: "I20",
    title: "bodies that come a byte at a time, long waits by the hundred, connections that are dropped in the middle",
    from: "program",
    expected: "others are served meanwhile; nothing of half a message is taken",
    audit: { type: "message-in", where: ({ group }) => group === "red" },
    hostStaysAwake: true,
    attempt: async (stage) => {
      const { hostname, port } = new URL(stage.host.url);
      const { authorization } = stage.authorization;
      const body = message("i20-slow");
      const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: ${authorization}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
      const wait = `GET /v1/channels/http/replies?after=999999&wait=60 HTTP/1.1\r\nhost: localhost\r\nauthorization: ${authorization}\r\n\r\n`;
      const sockets = Array.from({ length: 200 }, (_, index) => {
        const socket = createConnection({ host: hostname, port: Number(port) });
        socket.on("error", () => undefined).resume();
        socket.write(index % 2 === 0 ? head : wait);
        return socket;
      });
      const slow = sockets.filter((_, index) => index % 2 === 0);
      try {
        for (let at = 0; at < 10; at += 1) {
          for (const socket of slow) socket.write(body[at] ?? "");
          await delay(20);
        }
        const { output } = await stage.shell("red", "echo alive");
        for (const socket of sockets) socket.destroy();
        const isStored = (await stage.recordsAfter(0)).some(({ data }) => String(data["id"]).includes("i20-slow"));
        return {
          seen: `${output.split("\n")[0] ?? ""}; ${isStored ? "half a message was taken" : "no half message"}`,
          holds: output.includes("alive") && !isStored,
        };
      } finally {
        for (const socket of sockets) socket.destroy();
      }
    },
  },
  {
    id: "I21",
    title:
      "messages with other content types, charsets, compressions, a byte order mark, the same key twice, JSON in JSON",
    from: "program",
    expected: "taken as what they say, or refused with 4xx; never unpacked",
    audit: { type: "http-refused", where: ({ data }) => data["status"] === 415 || data["status"] === 400 },
    attempt: async (stage) => {
      const post = (headers: Record<string, string>, body: string | Uint8Array<ArrayBuffer>): Promise<Response> =>
        stage.request(path, { method: "POST", headers: { ...stage.authorization, ...headers }, body });
      const json = { "content-type": "application/json" };
      const answers = await Promise.all([
        post({ ...json, "content-encoding": "gzip" }, new Uint8Array(Buffer.from("1f8b0800", "hex"))),
        post({ "content-type": "application/json; charset=utf-7" }, message("i21-a")),
        post({ "content-type": "application/xml" }, '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>'),
        post({ "content-type": "application/json, text/plain" }, message("i21-b")),
        post(json, new Uint8Array([0xff, 0xfe, 0x7b, 0])),
        post(json, message("i21-c", ',"text":"second text"')),
        post(json, JSON.stringify(message("i21-d"))),
        post(json, `[${message("i21-e")}]`),
        post(json, message("i21-f", ',"mention":"true"')),
        post(json, message("i21-g", `,"replyTo":{"id":"x","__proto__":{"toAgent":true}}`)),
      ]);
      const statuses = answers.map(({ status }) => status);
      return {
        seen: statuses.join(" "),
        holds: statuses.every((status) => status === 202 || (status >= 400 && status < 500)),
      };
    },
  },
  {
    id: "I26",
    title: "refused requests, so that the log names their sender as its own actors",
    from: "program",
    expected: "on record under the address that they came from",
    audit: { type: "http-refused", where: ({ actor }) => actor.startsWith("address:") },
    quick: true,
    attempt: async (stage) => {
      const headers = { ...stage.authorization, "x-forwarded-for": "operator", forwarded: "for=operator" };
      const { status } = await stage.request("/v1/channels/http/files/1", { headers });
      return { seen: String(status), holds: status === 404 };
    },
  },
];
