import { lstat } from "node:fs/promises";
import { get } from "node:http";
import { createConnection } from "node:net";
import { join } from "node:path";

import type { Attack, Evidence } from "../suite/attack.ts";
import type { Stage } from "../suite/stage.ts";

const messages = "/v1/channels/http/messages";
const refusedLogin: Attack["audit"] = { type: "http-refused", where: ({ data }) => data["status"] === 401 };

function post(stage: Stage, headers: Record<string, string>, body: string): Promise<Response> {
  return stage.request(messages, { method: "POST", headers, body });
}

/** The statuses of answers, and whether each is one of those that are wanted. */
function statusEvidence(answers: readonly Response[], wanted: readonly number[]): Evidence {
  const statuses = answers.map(({ status }) => status);
  return {
    seen: `statuses ${[...new Set(statuses)].join(", ")}`,
    holds: statuses.every((status) => wanted.includes(status)),
  };
}

/** The status that a request from this local address gets. */
async function statusFrom(localAddress: string, port: string, authorization: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const options = { host: "127.0.0.1", port, path: "/metrics", localAddress, headers: { authorization }, agent: false };
  get(options, (answer) => {
    answer.resume();
    resolve(answer.statusCode ?? 0);
  }).once("error", reject);
  return promise;
}

const message = JSON.stringify({ id: "forged", group: "red", sender: { id: "x", name: "x" }, text: "x" });

export const attacks: readonly Attack[] = [
  {
    id: "I1",
    title: "each route without a token, with a wrong one, in the address, in a cookie, as basic login",
    from: "program",
    expected: "401 with the same body everywhere, also where there is no route",
    audit: refusedLogin,
    quick: true,
    attempt: async (stage) => {
      const wrong = [
        {},
        { authorization: "Bearer wrong" },
        { authorization: `Basic ${btoa(`x:${stage.canaries.token}`)}` },
        { cookie: `token=${stage.canaries.token}` },
      ];
      const paths = [
        messages,
        "/metrics",
        "/v1/channels/http/replies",
        `/metrics?token=${stage.canaries.token}`,
        "/nothing",
      ];
      const asked = paths.flatMap((path) => wrong.slice(0, 3).map((headers) => stage.request(path, { headers })));
      const answers = await Promise.all(asked);
      const bodies = new Set(await Promise.all(answers.map((answer) => answer.text())));
      const { seen, holds } = statusEvidence(answers, [401]);
      return { seen: `${seen}; ${bodies.size} different bodies`, holds: holds && bodies.size === 1 };
    },
  },
  {
    id: "I3",
    title: "requests that a foreign web page can make: forms, text/plain, GET",
    from: "program",
    expected: "refused with the right token too",
    audit: { type: "http-refused" },
    attempt: async (stage) => {
      const types = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"];
      const origin = { ...stage.authorization, origin: "https://evil.example" };
      const logins = [origin, stage.authorization];
      const posts = logins.flatMap((own) =>
        types.map((type) => post(stage, { ...own, "content-type": type }, message)),
      );
      const gets = logins.map((own) => stage.request(messages, { headers: own }));
      const answers = await Promise.all([...posts, ...gets]);
      const evidence = statusEvidence(answers, [403, 404, 405, 415]);
      const cors = answers.filter(({ headers }) => headers.has("access-control-allow-origin")).length;
      return { seen: `${evidence.seen}; ${cors} allow the foreign origin`, holds: evidence.holds && cors === 0 };
    },
  },
  {
    id: "I8",
    title: "answers that a browser could frame, cache, sniff or take for a page",
    from: "program",
    expected: "each answer forbids it, refusals too",
    audit: { type: "http-refused" },
    attempt: async (stage) => {
      const answers = await Promise.all(["/health/live", "/metrics", "/nothing"].map((path) => stage.request(path)));
      const wanted = ["content-security-policy", "x-content-type-options", "x-frame-options", "referrer-policy"];
      const missing = answers.flatMap(({ url, headers }) =>
        wanted.filter((name) => !headers.has(name)).map((name) => `${url}: ${name}`),
      );
      const cached = answers.filter(({ headers }) => headers.get("cache-control") !== "no-store").length;
      return { seen: missing.join(", ") || `${cached} may be cached`, holds: missing.length === 0 && cached === 0 };
    },
  },
  {
    id: "I12",
    title: "the control socket and the home: what another user of the machine may do",
    from: "program",
    expected: "modes 0600 in a folder of mode 0700",
    audit: { type: "control-request" },
    attempt: async (stage) => {
      await stage.command("sessions", "stop", "nobody");
      const modes = await Promise.all(
        ["control.sock", "control.key", "."].map(async (name) => (await lstat(join(stage.home, name))).mode & 0o777),
      );
      return {
        seen: modes.map((mode) => mode.toString(8)).join(" in "),
        holds: modes[0] === 0o600 && modes[1] === 0o600 && modes[2] === 0o700,
      };
    },
  },
  {
    id: "I14",
    title: "paths with traversal, encoded slashes, NUL, twice encoded; methods and headers that do not fit",
    from: "program",
    expected: "no file, no 5xx, the host goes on",
    audit: { type: "http-refused" },
    hostStaysAwake: true,
    attempt: async (stage) => {
      const paths = [
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/health/%00",
        "/health/..%2f..%2fetc",
        "//etc/passwd",
        "/%",
        `/${"a".repeat(10_000)}`,
      ];
      const methods = ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"];
      const headers = stage.authorization;
      const asked = paths.flatMap((path) => methods.map((method) => stage.request(path, { method, headers })));
      const answers = await Promise.all(asked);
      const bad = answers.filter(({ status }) => status < 400 || status >= 500).length;
      const texts = await Promise.all(answers.map((answer) => answer.text()));
      return {
        seen: `${bad} of ${answers.length} odd`,
        holds: bad === 0 && !texts.some((text) => text.includes("root:")),
      };
    },
  },
  {
    id: "I16",
    title: "half-open requests, broken requests and endless headers by the hundred",
    from: "program",
    expected: "closed; others are served meanwhile",
    audit: { type: "http-refused", where: ({ data }) => data["route"] === "malformed" },
    hostStaysAwake: true,
    attempt: async (stage) => {
      const { hostname, port } = new URL(stage.host.url);
      const starts = [
        "GET / HTTP/1.1\r\nhost: x\r\nx: ",
        "\u0016\u0003\u0001",
        `GET / HTTP/1.1\r\n${"x: y\r\n".repeat(5_000)}\r\n`,
        "POST / HTTP/1.1\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
      ];
      const sockets = Array.from({ length: 300 }, (_, index) => {
        const socket = createConnection({ host: hostname, port: Number(port) });
        socket.on("error", () => undefined);
        socket.write(starts[index % starts.length] ?? "");
        return socket;
      });
      try {
        const { output } = await stage.shell("red", "echo alive");
        return { seen: output.split("\n")[0] ?? "", holds: output.includes("alive") };
      } finally {
        for (const socket of sockets) socket.destroy();
      }
    },
  },
  {
    id: "I9",
    title: "guessing of tokens: two hundred wrong ones, then the right one from a connection that has shown it before",
    from: "program",
    expected: "guesses are cut off with 429; the owner's connection is not locked out",
    audit: { type: "http-refused", where: ({ data }) => data["status"] === 429 },
    attempt: async (stage) => {
      const wrong = Array.from({ length: 200 }, (_, index) => index);
      const statuses: number[] = [];
      const port = new URL(stage.host.url).port;
      // Its own address, so that the suite itself is not locked out.
      for (const guess of wrong) statuses.push(await statusFrom("127.0.0.9", port, `Bearer guess-${guess}`));
      const blocked = statuses.filter((status) => status === 429).length;
      const own = await stage.request("/metrics", { headers: stage.authorization });
      return {
        seen: `${blocked} of ${statuses.length} cut off; the owner gets ${own.status}`,
        holds: blocked > 150 && own.status === 200,
      };
    },
  },
];
