import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { expect, test } from "vitest";

import type { InjectedSecret } from "../../../../src/domain/sandbox/egress.ts";
import { findInAnswers } from "../../../../src/sandbox/egress/secrets/secret-mask.ts";
import { egressRig } from "../../../support/egress-rig.ts";
import type { EgressRig } from "../../../support/egress-rig.ts";
import { testAuthority, tlsServer } from "../../../support/tls-authority.ts";

const authority = await testAuthority();
const trusted = [authority.certificate];
const value = "Ghp-canary/77aa+1b2c3d4e";

/** A server that may be asked with a secret, and the group that may ask it. */
async function place(
  answer: RequestListener,
  binding: Pick<InjectedSecret, "methods" | "paths"> = {},
): Promise<{ rig: EgressRig; target: string } & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await tlsServer(authority, "api.test", answer));
  const target = `api.test:${server.port}`;
  const secret = { name: "TOKEN", value, hosts: [target], header: "authorization", format: "Bearer {}", ...binding };
  const rig = stack.use(await egressRig({ allow: [target, "other.test:443"], secrets: [secret] }, { trusted }));
  const owned = stack.move();
  return { rig, target, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function connect({
  rig,
  target,
}: {
  rig: EgressRig;
  target: string;
}): Promise<Awaited<ReturnType<EgressRig["secure"]>>> {
  const ca = await readFile(join(rig.folder, "certificates.pem"), "utf8");
  const socket = await rig.secure(target, { ca });
  return socket.on("error", () => socket.destroy());
}

/** Response to one request on a separate connection. */
async function exchange(at: { rig: EgressRig; target: string }, request: string): Promise<string> {
  const socket = await connect(at);
  socket.write(request);
  return text(socket).catch(() => "");
}

const get = (path: string, headers = ""): string =>
  `GET ${path} HTTP/1.1\r\nHost: api.test\r\n${headers}Connection: close\r\n\r\n`;

const rules = ({ events }: EgressRig): string[] => events.map(({ verdict, rule }) => `${verdict} ${rule}`);

test("what has come at a pause, and in which chunks all comes, does not tell how much of a guess is right", async () => {
  const front = "x".repeat(3_000);
  let goOn = Promise.withResolvers<void>();
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.write(front + decodeURIComponent(request.url?.slice(1) ?? ""));
    await goOn.promise;
    response.end("the end");
  };
  await using at = await place((request, response) => void serve(request, response));
  const guesses = [0, 1, 2, 5, 9, 15, value.length - 1].map((right) =>
    value.slice(0, right).padStart(value.length, "!"),
  );
  const shapes: (readonly number[])[] = [];
  const beforePause = front.length + value.length - findInAnswers([value]).longestSpan;

  for (const guess of guesses) {
    goOn = Promise.withResolvers();
    const socket = await connect(at);
    let answer = "";
    socket.setEncoding("latin1").on("data", (part: string) => void (answer += part));
    socket.write(get(`/${encodeURIComponent(guess)}`));
    await expect.poll(() => chunksOf(answer)).toEqual([beforePause]);
    goOn.resolve();
    await once(socket, "end");
    shapes.push(chunksOf(answer));
  }

  for (const shape of shapes) expect(shape).toEqual(shapes[0]);
});

/** Sizes of the chunks that have come so far. */
function chunksOf(answer: string): number[] {
  const sizes: number[] = [];
  for (let at = answer.indexOf("\r\n\r\n") + 4; at > 3 && at < answer.length;) {
    const size = Number.parseInt(answer.slice(at), 16);
    sizes.push(Math.min(size, answer.length - answer.indexOf("\r\n", at) - 2));
    at = answer.indexOf("\r\n", at) + 4 + size;
  }
  return sizes;
}

const inHex = Buffer.from(value).toString("hex");

/** Ways in which a server may reflect the token. */
const reflections: readonly (readonly [string, (token: string, response: ServerResponse) => unknown])[] = [
  ["in upper case", (token, response) => response.end(token.toUpperCase())],
  ["in lower case", (token, response) => response.end(token.toLowerCase())],
  ["with dots between", (token, response) => response.end(Array.from(token).join("."))],
  ["in hexadecimal with colons", (_token, response) => response.end(inHex.match(/../g)?.join(":"))],
  ["in a header's name", (token, response) => response.setHeader(`x-${token.replaceAll(/[/+]/g, "_")}`, "1").end()],
  ["in a header, as JSON", (token, response) => response.setHeader("x-echo", JSON.stringify({ token })).end()],
  [
    "in a header, as in a URL",
    (token, response) => response.setHeader("location", `/?t=${encodeURIComponent(token)}`).end(),
  ],
  ["in the status line", (token, response) => response.writeHead(200, token.toUpperCase()).end()],
  [
    "in two headers",
    (token, response) => response.setHeader("x-a", token.slice(0, 9)).setHeader("x-b", token.slice(9)).end(),
  ],
  [
    "in two pieces with a pause between",
    (token, response) => response.write(token.slice(0, 11), () => setTimeout(() => response.end(token.slice(11)), 100)),
  ],
];

test.each(reflections)("a host that sends the secret back %s sends asterisks", async (_how, reflect) => {
  await using at = await place((request, response) => {
    reflect(request.headers.authorization?.replace("Bearer ", "") ?? "", response);
  });

  const answer = await exchange(at, get("/"));

  const letters = answer.replaceAll(/[^A-Za-z0-9]/g, "").toLowerCase();
  expect(answer).toContain("*".repeat(9));
  expect(letters).not.toContain("canary77");
  expect(letters).not.toContain("2c3d4e");
  expect(letters).not.toContain(inHex.slice(4, 20));
  await expect.poll(() => rules(at.rig)).toContain("masked secret-in-answer");
});

test("an answer that is compressed by its Transfer-Encoding is not passed on", async () => {
  await using at = await place((request) => {
    request.socket.end("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n3\r\nzip\r\n0\r\n\r\n");
  });

  const answer = await exchange(at, get("/"));

  expect(answer).toMatch(/^HTTP\/1\.1 502 /);
  expect(rules(at.rig)).toContain("refused content-encoding");
});

test("a destination that has sent secrets back three times is closed to the group, and others are not", async () => {
  await using at = await place((request, response) => response.end(request.headers.authorization));
  const open = await connect(at);
  let kept = "";
  open.setEncoding("latin1").on("data", (part: string) => void (kept += part));

  const answers = [];
  for (let count = 0; count < 3; count += 1) answers.push(await exchange(at, get("/")));
  open.write(get("/"));
  await once(open, "end");
  const asked = await at.rig.answer(`CONNECT ${at.target} HTTP/1.1\r\nHost: ${at.target}\r\n\r\n`);
  const other = await at.rig.answer("CONNECT other.test:443 HTTP/1.1\r\nHost: other.test\r\n\r\n");

  for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*\*{24}/);
  expect(kept).toMatch(/^HTTP\/1\.1 403 [\s\S]*X-Crabpot-Rule: reflects/i);
  expect(asked).toMatch(/^HTTP\/1\.1 403 [\s\S]*X-Crabpot-Rule: reflects/);
  expect(other).not.toContain("reflects");
  expect(rules(at.rig).filter((rule) => rule === "barred reflects")).toHaveLength(1);
  expect(rules(at.rig).filter((rule) => rule === "refused reflects")).toHaveLength(2);
});

test("guesses at the same time get no more masked answers than guesses one after the other", async () => {
  const all = Promise.withResolvers<void>();
  let waiting = 0;
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    waiting += 1;
    if (waiting === 12) all.resolve();
    await all.promise;
    response.end(request.headers.authorization);
  };
  await using at = await place((request, response) => void serve(request, response));

  const answers = await Promise.all(Array.from({ length: 12 }, async () => exchange(at, get("/"))));

  expect(answers.filter((answer) => answer.includes("*"))).toHaveLength(3);
  expect(answers.join("")).not.toContain(value);
});

test("a host that is marked as one that reflects is spoken to by the agent itself, and gets no secret", async () => {
  const seen: unknown[] = [];
  await using server = await tlsServer(authority, "api.test", (request, response) => {
    seen.push(request.headers.authorization);
    response.end("hello");
  });
  const target = `api.test:${server.port}`;
  const secret = { name: "TOKEN", value, hosts: [target], header: "authorization", format: "Bearer {}" };
  await using rig = await egressRig({ allow: [target], reflects: [target], secrets: [secret] }, { trusted });

  const socket = await rig.secure(target, { ca: authority.certificate });
  socket.write(get("/"));

  expect(await text(socket)).toContain("hello");
  expect(seen).toEqual([undefined]);
});

test.each([
  ["GET", "/v1/items", true],
  ["GET", "/v1/items?next=/../admin", true],
  ["HEAD", "/v1/items", false],
  ["POST", "/v1/items", false],
  ["GET", "/v2/items", false],
  ["GET", "/v1", false],
  ["GET", "/v1/../admin", false],
  ["GET", "/v1/%2e%2e/admin", false],
  ["GET", "/v1/%2E./admin", false],
  ["GET", "/v1/..%2fadmin", false],
  ["GET", "/v1/..%5cadmin", false],
  ["GET", "/v1/..;/admin", false],
  ["GET", "/v1//admin", false],
  ["GET", String.raw`/v1/..\admin`, false],
  ["GET", "/v1/%252e%252e/admin", false],
])("a secret bound to GET and /v1/*: %s %s", async (method, path, gets) => {
  const seen: unknown[] = [];
  await using at = await place(
    (request, response) => {
      seen.push(request.headers.authorization);
      response.end("hello");
    },
    { methods: ["GET"], paths: ["/v1/*"] },
  );

  const answer = await exchange(at, get(path, "Authorization: mine\r\n").replace("GET", method));

  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(seen).toEqual([gets ? `Bearer ${value}` : undefined]);
  expect(rules(at.rig)).toContain(gets ? "allowed secret TOKEN" : "allowed no secret");
});

test.each(["X-HTTP-Method-Override: DELETE", "X_Original_URL: /admin", "x-rewrite-url: /admin"])(
  "a bound secret is not for a request that says %s",
  async (header) => {
    const seen: unknown[] = [];
    const listen: RequestListener = (request, response) => {
      seen.push(request.headers.authorization);
      response.end();
    };
    await using at = await place(listen, { paths: ["/v1/*"] });

    await exchange(at, get("/v1/items", `${header}\r\n`));

    expect(seen).toEqual([undefined]);
  },
);

test.each([
  ["two Host headers", "Host: api.test\r\nHost: api.test\r\n", 400, "host"],
  ["a second Host header of another host", "Host: api.test\r\nhost: evil.test\r\n", 400, "host"],
  ["a Host in capitals", "Host: API.test\r\n", 421, "host"],
  ["a Host with a dot at its end", "Host: api.test.\r\n", 421, "host"],
  ["a body that is compressed on its way", "Host: api.test\r\nTransfer-Encoding: gzip, chunked\r\n", 400, "malformed"],
])("refused where requests are read: %s", async (_what, headers, status, rule) => {
  const seen: unknown[] = [];
  await using at = await place((request) => void seen.push(request.rawHeaders));

  const answer = await exchange(at, `GET / HTTP/1.1\r\n${headers}\r\n`);

  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(seen).toEqual([]);
  expect(rules(at.rig)).toContain(`refused ${rule}`);
});

test.each([
  ["two lengths", "Content-Length: 0\r\nContent-Length: 0\r\n"],
  ["a list of lengths", "Content-Length: 0, 0\r\n"],
  ["two codings", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"],
  ["a folded line", "X: a\r\n b\r\n"],
  ["a blank before a colon", "X : a\r\n"],
])("a request with %s ends the connection", async (_what, headers) => {
  const seen: unknown[] = [];
  await using at = await place((request) => void seen.push(request.rawHeaders));

  const answer = await exchange(at, get("/", headers));

  expect(answer).toBe("");
  expect(seen).toEqual([]);
});
