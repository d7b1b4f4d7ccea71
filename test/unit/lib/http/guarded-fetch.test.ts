import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { guardedFetch, type GuardedFetchOptions } from "../../../../src/lib/http/guarded-fetch.ts";

/** A server on this machine; `place` as it has to be allowed. */
async function serve(answer: RequestListener) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    place,
    url: `http://${place}`,
    port: (server.address() as AddressInfo).port,
    requests,
    [Symbol.dispose]: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function get(url: string, options: GuardedFetchOptions = {}, init: RequestInit = {}): Promise<string> {
  using guarded = guardedFetch(options);
  const response = await guarded.fetch(url, init);
  return `${response.status} ${await response.text()}`;
}

async function refuseToResolve(): Promise<string[]> {
  throw new Error("nothing is to be looked up");
}

test("what is on this machine is asked only where its host and port are listed", async () => {
  using server = await serve((_request, response) => response.end("hello"));

  await expect(get(`${server.url}/`)).rejects.toMatchObject({ code: "address_refused" });
  await expect(get(`${server.url}/`, { allowPorts: [server.place] })).rejects.toMatchObject({
    code: "address_refused",
  });
  await expect(get(`http://localhost:${server.port}/`, { allowPrivate: [server.place] })).rejects.toMatchObject({
    code: "address_refused",
  });
  expect(server.requests).toHaveLength(0);
  expect(await get(`${server.url}/`, { allowPrivate: [server.place] })).toBe("200 hello");
});

test.each([
  "http://127.0.0.1/",
  "http://2130706433/",
  "http://0x7f.1/",
  "http://10.1.2.3/",
  "http://100.64.0.1/",
  "http://169.254.169.254/latest/meta-data/",
  "http://192.168.1.1/",
  "http://224.0.0.1/",
  "http://0.0.0.0/",
  "http://[::1]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[fe80::1]/",
  "http://[fd00:ec2::254]/",
  "http://[64:ff9b::7f00:1]/",
  "https://public.example:8443/",
  "https://user:password@public.example/",
  "file:///etc/passwd",
  "ftp://public.example/",
])("%s is not asked", async (url) => {
  await expect(get(url, { resolve: refuseToResolve })).rejects.toMatchObject({ code: "address_refused" });
});

test("a cloud's metadata is out of reach even where it is listed", async () => {
  const listed = get("http://169.254.169.254/", { allowPrivate: ["169.254.169.254:80"] });

  await expect(listed).rejects.toMatchObject({ code: "address_refused" });
});

test("a name is judged by what it leads to when it is connected to, and one address among several is enough", async () => {
  using server = await serve((_request, response) => response.end("inside"));
  const name = `rebinding.example:${server.port}`;
  let asked = 0;
  const resolve = async (): Promise<string[]> => {
    asked += 1;
    return ["93.184.215.14", "127.0.0.1"];
  };

  await expect(get(`http://${name}/`, { allowPorts: [name], resolve })).rejects.toMatchObject({
    code: "address_refused",
  });
  expect(asked).toBe(1);
  expect(server.requests).toHaveLength(0);
  const allowed = { allowPrivate: [name], resolve: async () => ["127.0.0.1"] };
  expect(await get(`http://${name}/`, allowed)).toBe("200 inside");
});

test("no chain of redirects leads to an address that may not be asked", async () => {
  using hidden = await serve((_request, response) => response.end("secret"));
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 4 }), fc.constantFrom(301, 302, 303, 307, 308), async (hops, status) => {
      using server = await serve(({ url = "/" }, response) => {
        const hop = Number(url.slice(1));
        response.writeHead(status, { location: hop < hops ? `/${hop + 1}` : hidden.url }).end();
      });
      await expect(get(`${server.url}/0`, { allowPrivate: [server.place] })).rejects.toMatchObject({
        code: "address_refused",
      });
    }),
    { numRuns: 15 },
  );

  expect(hidden.requests).toHaveLength(0);
});

test("redirects end somewhere", async () => {
  using server = await serve((_request, response) => response.writeHead(302, { location: "/again" }).end());

  await expect(get(server.url, { allowPrivate: [server.place] })).rejects.toThrow(/redirects again/);
  expect(server.requests).toHaveLength(6);
});

test("credentials and contents stay with the origin that they were meant for", async () => {
  using other = await serve((_request, response) => response.end("there"));
  using server = await serve(({ url }, response) => {
    response.writeHead(url === "/keep" ? 307 : 302, { location: `${other.url}/` }).end();
  });
  const allowPrivate = [server.place, other.place];
  const headers = { authorization: "Bearer t0ken", cookie: "a=b", "x-api-key": "k3y", accept: "text/plain" };

  expect(await get(server.url, { allowPrivate }, { headers })).toBe("200 there");
  expect(server.requests[0]?.headers).toMatchObject(headers);
  expect(JSON.stringify(other.requests[0]?.rawHeaders)).not.toMatch(/t0ken|a=b|k3y/);
  expect(other.requests[0]?.headers.accept).toBe("text/plain");
  const post = get(`${server.url}/keep`, { allowPrivate }, { method: "POST", body: "words" });
  await expect(post).rejects.toThrow(/wants what was sent to it to be sent to/);
  expect(other.requests).toHaveLength(1);
});

test("an answer ends at the limit, counted as it is when unpacked", async () => {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
  using server = await serve(({ url }, response) => {
    if (url === "/bomb") response.writeHead(200, { "content-encoding": "gzip" }).end(bomb);
    else if (url === "/odd") response.writeHead(200, { "content-encoding": "zstd" }).end("x");
    else if (url === "/small") response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("small"));
    else response.end(Buffer.alloc(1_000_001));
  });
  const options = { allowPrivate: [server.place], maxBytes: 1_000_000 };

  await expect(get(`${server.url}/large`, options)).rejects.toThrow(/larger than 1.0 MB/);
  await expect(get(`${server.url}/bomb`, options)).rejects.toThrow(/larger than 1.0 MB/);
  await expect(get(`${server.url}/odd`, options)).rejects.toThrow(/packed as "zstd"/);
  expect(await get(`${server.url}/small`, options)).toBe("200 small");
});

test("in a stream of events each event is bounded, not the whole stream", async () => {
  const event = `data: ${"x".repeat(800)}\n\n`;
  using server = await serve(({ url }, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(url === "/many" ? event.repeat(20) : `data: ${"x".repeat(4000)}`);
  });
  const options = { allowPrivate: [server.place], maxBytes: 1000 };

  expect(await get(`${server.url}/many`, options)).toBe(`200 ${event.repeat(20)}`);
  await expect(get(`${server.url}/one`, options)).rejects.toThrow(/larger than/);
});

test("a server that says nothing, or stops in the middle, is not waited for", async () => {
  using server = await serve(({ url }, response) => {
    if (url === "/middle") response.write("so far");
  });
  const allowPrivate = [server.place];

  await expect(get(`${server.url}/never`, { allowPrivate, headersMs: 50 })).rejects.toThrow(/did not answer in 0.05 s/);
  await expect(get(`${server.url}/middle`, { allowPrivate, silenceMs: 50 })).rejects.toThrow(
    /nothing was received for 0.05 s/,
  );
  await expect(get(`${server.url}/middle`, { allowPrivate, bodyMs: 50 })).rejects.toThrow(/not complete after 0.05 s/);
});

test("whoever gives up ends the request, before the answer and within it", async () => {
  using server = await serve(({ url }, response) => {
    if (url === "/middle") response.write("so far");
  });
  using guarded = guardedFetch({ allowPrivate: [server.place] });
  const end = new AbortController();
  const never = guarded.fetch(`${server.url}/never`, { signal: end.signal });
  const { body } = await guarded.fetch(`${server.url}/middle`, { signal: end.signal });
  const reader = body?.getReader();
  await reader?.read();

  end.abort();
  await expect(never).rejects.toThrow(/abort/i);
  await expect(reader?.read()).rejects.toThrow(/abort/i);
});
