import { readFile, stat } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { expect, test } from "vitest";

import type { InjectedSecret } from "../../../../src/domain/sandbox/egress.ts";
import { egressRig } from "../../../support/egress-rig.ts";
import type { EgressRig } from "../../../support/egress-rig.ts";
import { testAuthority, tlsServer } from "../../../support/tls-authority.ts";

const authority = await testAuthority();
const trusted = [authority.certificate];
const value = "ghp-canary/77aa+1b2c3d4e";

/** An API that says which headers and body it got, and the group that may use it with a secret. */
async function api(
  answer: (headers: NodeJS.Dict<string | string[]>, body: string) => { headers?: object; body: string },
): Promise<
  { port: number; seen: { url: string; headers: NodeJS.Dict<string | string[]>; body: string }[] } & AsyncDisposable
> {
  const seen: { url: string; headers: NodeJS.Dict<string | string[]>; body: string }[] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    seen.push({ url: request.url ?? "", headers: request.headers, body });
    const made = answer(request.headers, body);
    response.writeHead(200, { "content-length": Buffer.byteLength(made.body), ...made.headers }).end(made.body);
  };
  const server = await tlsServer(authority, "api.test", (request, response) => void serve(request, response));
  return { port: server.port, seen, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

function secretFor(port: number): InjectedSecret {
  return { name: "TOKEN", value, hosts: [`api.test:${port}`], header: "authorization", format: "Bearer {}" };
}

async function rigFor(port: number): Promise<EgressRig> {
  return egressRig({ allow: [`api.test:${port}`], secrets: [secretFor(port)] }, { trusted });
}

async function exchange(rig: EgressRig, port: number, request: string): Promise<string> {
  const ca = await readFile(join(rig.folder, "certificates.pem"), "utf8");
  const secured = await rig.secure(`api.test:${port}`, { ca });
  secured.write(request);
  return text(secured);
}

test("a request for a host with a secret gets it in place of what the agent had put there", async () => {
  await using server = await api(() => ({ body: "welcome" }));
  await using rig = await rigFor(server.port);

  const request = `POST /v1?a=b HTTP/1.1\r\nHost: api.test:${server.port}\r\nAuthorization: Bearer mine\r\nX-Own: yes\r\nContent-Length: 5\r\nConnection: close, authorization\r\n\r\nhello`;
  const answer = await exchange(rig, server.port, request);

  expect(answer).toContain("welcome");
  expect(server.seen).toEqual([{ url: "/v1?a=b", body: "hello", headers: expect.anything() as unknown }]);
  expect(server.seen[0]?.headers).toMatchObject({ authorization: `Bearer ${value}`, "x-own": "yes" });
  expect(rig.events.map(({ verdict, rule }) => `${verdict} ${rule}`)).toContain("allowed secret TOKEN");
  expect(JSON.stringify(rig.events)).not.toContain(value);
});

test("a host that sends the secret back sends asterisks, in headers and in a body of any form and length", async () => {
  const inBasic = ["x:", "xy:", "xyz:"].map((user) => Buffer.from(`${user}${value}`).toString("base64"));
  const bytes = Buffer.from(value);
  const forms = [value, encodeURIComponent(value), bytes.toString("base64url"), bytes.toString("hex"), ...inBasic];
  const filler = "x".repeat(65_530);
  await using server = await api((headers) => ({
    headers: { "x-echo": String(headers["authorization"]), "content-type": "application/octet-stream" },
    body: forms.map((form) => filler + form).join(""),
  }));
  await using rig = await rigFor(server.port);

  const answer = await exchange(rig, server.port, `GET / HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n`);

  expect(forms.filter((form) => answer.includes(form.slice(6, -4)))).toEqual([]);
  expect(answer.split("\r\n")).toContain(`x-echo: Bearer ${"*".repeat(value.length)}`);
  expect(answer.length).toBeGreaterThan(forms.length * filler.length);
  await expect.poll(() => rig.events.map((event) => event.verdict)).toContain("masked");
});

test.each([
  ["TRACE, which would show it", "TRACE / HTTP/1.1\r\nHost: api.test\r\n\r\n", 405],
  ["another host in the Host header", "GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n", 421],
  ["a whole address as the target", "GET https://evil.test/ HTTP/1.1\r\nHost: api.test\r\n\r\n", 400],
])("refused where requests are read: %s", async (_what, request, status) => {
  await using server = await api(() => ({ body: "" }));
  await using rig = await rigFor(server.port);

  const answer = await exchange(rig, server.port, request);

  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(server.seen).toEqual([]);
  expect(rig.events.map((event) => event.verdict)).toContain("refused");
});

test("two ways to say how long a body is end the connection before anything goes upstream", async () => {
  await using server = await api(() => ({ body: "" }));
  await using rig = await rigFor(server.port);

  const request =
    "POST / HTTP/1.1\r\nHost: api.test\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: api.test\r\n\r\n";
  const answer = await exchange(rig, server.port, request).catch(() => "");

  expect(answer).not.toMatch(/^HTTP\/1\.1 2/);
  expect(server.seen).toEqual([]);
});

test("a host whose certificate nobody has signed does not get the secret", async () => {
  const stranger = await testAuthority();
  const received: string[] = [];
  await using server = await tlsServer(stranger, "api.test", (request, response) => {
    received.push(String(request.headers.authorization));
    response.end();
  });
  await using rig = await rigFor(server.port);

  const answer = await exchange(rig, server.port, `GET / HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n`);

  expect(answer).toMatch(/^HTTP\/1\.1 502 /);
  expect(received).toEqual([]);
});

test("an answer that is compressed cannot be searched and is not passed on", async () => {
  await using server = await api(() => ({ headers: { "content-encoding": "gzip" }, body: "zip" }));
  await using rig = await rigFor(server.port);

  const answer = await exchange(rig, server.port, `GET / HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n`);

  expect(answer).toMatch(/^HTTP\/1\.1 502 /);
  expect(answer).not.toContain("zip\r\n");
});

test("several requests can use one connection, one after the other", async () => {
  await using server = await api(() => ({ body: "again" }));
  await using rig = await rigFor(server.port);
  const ca = await readFile(join(rig.folder, "certificates.pem"), "utf8");
  const secured = await rig.secure(`api.test:${server.port}`, { ca });
  let answers = "";
  secured.on("data", (chunk: Buffer) => void (answers += chunk.toString()));

  for (const count of [1, 2, 3]) {
    secured.write(`GET /${count} HTTP/1.1\r\nHost: api.test\r\n\r\n`);
    await expect.poll(() => answers.split("again").length - 1).toBe(count);
  }

  expect(server.seen.map((request) => request.url)).toEqual(["/1", "/2", "/3"]);
  secured.destroy();
});

test("requests that do not wait for their answers end the connection, so that one tunnel is not hundreds of connections", async () => {
  let reached = 0;
  await using server = await tlsServer(authority, "api.test", () => void (reached += 1));
  await using rig = await rigFor(server.port);

  const answer = await exchange(rig, server.port, "GET / HTTP/1.1\r\nHost: api.test\r\n\r\n".repeat(200)).catch(
    () => "",
  );

  expect(answer).toBe("");
  expect(reached).toBeLessThan(2);
  await expect.poll(() => rig.events.map(({ verdict, rule }) => `${verdict} ${rule}`)).toContain("refused pipelining");
});

test("the authority's key is for the host alone, and stays the same over restarts", async () => {
  await using server = await api(() => ({ body: "" }));
  await using rig = await rigFor(server.port);

  const files = await Promise.all(
    ["egress-ca.key", "egress-ca.pem"].map(async (name) => stat(join(rig.folder, "..", name))),
  );

  expect(files.map((file) => file.mode & 0o777)).toEqual([0o600, 0o600]);
  expect(await readFile(join(rig.folder, "certificates.pem"), "utf8")).not.toContain("PRIVATE KEY");
});
