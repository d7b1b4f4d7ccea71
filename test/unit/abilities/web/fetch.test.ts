import { createHash } from "node:crypto";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { createServer as createTcpServer, type AddressInfo, type Socket } from "node:net";

import * as fc from "fast-check";
import { expect, test } from "vitest";

import type { GroupWeb } from "../../../../src/domain/settings/web.ts";
import type { NewEvent } from "../../../../src/domain/events/event.ts";
import { mebibyte } from "../../../../src/lib/text/bytes.ts";
import { fetchBytes } from "../../../../src/abilities/web/fetch-bytes.ts";
import { WebService, type WebServiceOptions } from "../../../../src/abilities/web/web-service.ts";
import { bombOf } from "../../../support/bomb.ts";
import { openWebSite, page, redirect } from "../../../support/web-site.ts";

const web: GroupWeb = { fetch: "public", allow: [], search: undefined, fetchesPerDay: 500, searchesPerDay: 200 };
const place = { group: "family", session: "s", turn: "t" };

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** A desk, and what it tells. */
function openDesk(options: Partial<WebServiceOptions> = {}) {
  const events: NewEvent[] = [];
  const desk = new WebService({
    webOf: () => web,
    publish: async (event) => void events.push(event),
    countSince: async () => 0,
    now: () => Date.parse("2026-03-01T12:00:00Z"),
    resolve: async (host) => Promise.reject(new Error(`${host} is not to be looked up`)),
    ...options,
  });
  const fetch = (url: string, more: Partial<GroupWeb> = {}, turn = "t") =>
    desk.fetch(url, { place: { ...place, turn }, web: { ...web, ...more }, signal: new AbortController().signal });
  return { desk, events, fetch };
}

test.each([
  "http://127.0.0.1/",
  "http://2130706433/",
  "http://0177.0.0.1/",
  "http://0x7f000001/",
  "http://127.1/",
  "http://[::1]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[::ffff:a9fe:a9fe]/",
  "http://[64:ff9b::7f00:1]/",
  "http://[2002:7f00:1::]/",
  "http://[fe80::1%25eth0]/",
  "http://169.254.169.254/latest/meta-data/",
  "http://100.100.100.200/",
  "http://public.example:22/",
  "https://user:word@public.example/",
  "https://public.example@127.0.0.1/",
  "file:///etc/passwd",
  "gopher://public.example/",
  "data:text/html,hello",
  "javascript:alert(1)",
  "no address",
])("%s is not fetched, whatever is allowed besides", async (url) => {
  const { events, fetch } = openDesk();

  await expect(fetch(url, { allow: ["docs.example:443", "127.0.0.2:80"] })).rejects.toMatchObject({
    name: "ToolError",
  });

  expect(events.filter(({ type }) => type === "web.answered")).toEqual([]);
});

test("another spelling of an address that is allowed is not that address", async () => {
  await using site = await openWebSite({ "/": page("<p>hello</p>") });
  const port = site.place.split(":")[1];
  const { fetch } = openDesk();

  for (const host of ["2130706433", "0x7f.1", "127.1", "017700000001", "localhost", "[::ffff:7f00:1]"])
    await expect(fetch(`http://${host}:${port}/`, { allow: [site.place] })).rejects.toMatchObject({
      name: "ToolError",
    });
  const found = await fetch(`${site.url}/`, { allow: [site.place] });

  expect(site.asked).toEqual(["/"]);
  expect(found).toMatchObject({ status: 200, kind: "html", mimeType: "text/html", isCut: false });
});

test("a name is judged by the addresses that it has when it is connected to", async () => {
  const names: Record<string, readonly string[]> = {
    "printer.local": ["192.168.1.7"],
    "metadata.google.internal": ["169.254.169.254"],
    "mixed.example": ["93.184.216.34", "127.0.0.1"],
    "mapped.example": ["::ffff:10.0.0.1"],
  };
  const looked: string[] = [];
  const { fetch } = openDesk({
    resolve: async (host) => {
      looked.push(host);
      return names[host] ?? [];
    },
  });

  for (const name of Object.keys(names))
    await expect(fetch(`https://${name}/`)).rejects.toThrow(/not on the public internet/);

  expect(looked).toEqual(Object.keys(names));
});

test("a name whose address changes between two connections leads nowhere", async () => {
  await using site = await openWebSite({ "/": page("<p>inside</p>") });
  const port = site.place.split(":")[1];
  const answers = [["127.0.0.1"], ["10.0.0.1"]];
  const { fetch } = openDesk({ resolve: async () => answers.shift() ?? ["127.0.0.1"] });
  const allow = [`page.example:${port}`];

  const first = await fetch(`http://page.example:${port}/`, { allow });

  expect(first.status).toBe(200);
  // The same name is no longer allowed where only its public address would be.
  await expect(fetch(`http://page.example:${port}/`)).rejects.toThrow(/port other than 80 and 443/);
  await expect(fetch("http://page.example/")).rejects.toThrow(/not on the public internet/);
});

test("redirects are followed a few times, and only to where one may go anyway", async () => {
  await using other = await openWebSite({ "/": page("<p>inside</p>") });
  await using site = await openWebSite({
    "/once": redirect("/twice"),
    "/twice": redirect("/page", 308),
    "/page": page("<p>here</p>"),
    "/loop": redirect("/loop"),
    "/inside": redirect(`${other.url}/`),
    "/file": redirect("file:///etc/passwd"),
    "/metadata": redirect("http://169.254.169.254/"),
    "/named": redirect("http://me:secret@public.example/"),
  });
  const { fetch } = openDesk();
  const allow = [site.place];

  const found = await fetch(`${site.url}/once`, { allow });
  for (const path of ["/loop", "/inside", "/file", "/metadata", "/named"])
    await expect(fetch(`${site.url}${path}`, { allow })).rejects.toMatchObject({ name: "ToolError" });

  expect(found.url).toBe(`${site.url}/page`);
  expect(site.asked.filter((path) => path === "/loop").length).toBeLessThan(21);
  expect(other.asked).toEqual([]);
});

test("in an allowlist only what is listed is asked, and nothing else is even looked up", async () => {
  await using site = await openWebSite({ "/": page("<p>hello</p>"), "/out": redirect("https://public.example/") });
  const { fetch } = openDesk();
  const only = { fetch: "allowlist", allow: [site.place] } as const;

  const found = await fetch(`${site.url}/`, only);

  expect(found.status).toBe(200);
  await expect(fetch("https://public.example/?q=secret", only)).rejects.toThrow(/not one of those that are allowed/);
  await expect(fetch(`${site.url}/out`, only)).rejects.toThrow(/not one of those that are allowed/);
  await expect(fetch(`${site.url}/`, { ...only, fetch: "off" })).rejects.toThrow(/may not fetch/);
});

test("of what is too large the beginning is taken where it is text, and nothing where it is not", async () => {
  const line = Buffer.from("word ".repeat(20_000));
  const endless = (type: string) => (response: ServerResponse) => {
    response.writeHead(200, { "content-type": type });
    const more = (): void => {
      while (response.write(type.startsWith("text") ? line : Buffer.alloc(65_536)));
      response.once("drain", more);
    };
    more();
  };
  const bomb = bombOf(1024);
  await using site = await openWebSite({
    "/text": endless("text/plain"),
    "/events": endless("text/event-stream"),
    "/bytes": endless("application/octet-stream"),
    "/bomb": (response) =>
      response.writeHead(200, { "content-type": "text/plain", "content-encoding": "gzip" }).end(bomb),
  });
  const { fetch } = openDesk();
  const allow = [site.place];

  const text = await fetch(`${site.url}/text`, { allow });
  const events = await fetch(`${site.url}/events`, { allow });
  const unpacked = await fetch(`${site.url}/bomb`, { allow });

  expect(bomb.length).toBeLessThan(1.1 * mebibyte);
  for (const found of [text, events, unpacked]) {
    expect(found.isCut).toBe(true);
    expect(found.content.length).toBe(10 * mebibyte);
  }
  await expect(fetch(`${site.url}/bytes`, { allow })).rejects.toThrow(/larger than the 10 MB/);
});

/** An answer that says that it is packed. */
function packed(coding: string, body: string) {
  return (response: ServerResponse) => void response.writeHead(200, { "content-encoding": coding }).end(body);
}

test("what a server says of its letters, and how it packs them, is used or told in words", async () => {
  const utf16 = Buffer.from("<!doctype html><p>Käse", "utf16le");
  await using site = await openWebSite({
    "/le": page(utf16, "text/html; charset=utf-16le"),
    "/be": page(Buffer.from(utf16).swap16(), "text/plain; charset=UTF-16BE"),
    "/ascii": page("<!doctype html><p>Kaese", "text/html; charset=utf-16"),
    "/bytes": page(Buffer.from([1, 0, 2, 0]), "application/zip"),
    "/picture": page(Buffer.from("\0\0\0\x1cftypavis\0\0\0\0avifmif1", "latin1"), "image/avif"),
    "/gzip": packed("gzip", "not packed"),
    "/br": packed("br", "not packed either, but longer than what a header of it has"),
    "/cut": (response) => void response.writeHead(200, { "content-length": 9 }).write("x", () => response.destroy()),
  });
  const { fetch } = openDesk();
  const get = (path: string) => fetch(`${site.url}${path}`, { allow: [site.place] });

  expect(await get("/le")).toMatchObject({ kind: "html", charset: "utf-16le", claimed: undefined });
  expect(await get("/be")).toMatchObject({ kind: "text", mimeType: "text/plain", charset: "UTF-16BE" });
  expect(await get("/ascii")).toMatchObject({ kind: "html" });
  expect(await get("/bytes")).toMatchObject({ kind: "file" });
  expect(await get("/picture")).toMatchObject({ kind: "image", mimeType: "image/avif" });
  await expect(get("/gzip")).rejects.toThrow(/could not be fetched: what it sent cannot be unpacked\.$/);
  await expect(get("/br")).rejects.toThrow(/could not be fetched: what it sent cannot be unpacked\.$/);
  await expect(get("/cut")).rejects.toThrow(/could not be fetched: its answer was cut off\.$/);
});

/** A server that speaks by hand. */
async function openRawServer(speak: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    speak(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    place: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.dispose]: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

test.each<[string, (socket: Socket) => void, RegExp]>([
  ["never answers", () => undefined, /did not answer/],
  [
    "sends its headers letter by letter",
    (socket) => {
      const timer = setInterval(() => socket.write("x"), 20);
      socket.on("close", () => clearInterval(timer));
      socket.write("HTTP/1.1 200 OK\r\nx: ");
    },
    /did not answer/,
  ],
  [
    "sends its body letter by letter",
    (socket) => {
      const timer = setInterval(() => socket.write("x"), 20);
      socket.on("close", () => clearInterval(timer));
      socket.write("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n");
    },
    /did not answer/,
  ],
  [
    "sends 100 MB of headers",
    (socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      const more = (): void => {
        while (!socket.destroyed && socket.write(`x-filler: ${"y".repeat(8_000)}\r\n`));
        socket.once("drain", more);
      };
      more();
    },
    /Header overflow/i,
  ],
  [
    "packs in a way that nobody knows",
    (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-encoding: zstd\r\n\r\nabc"),
    /packed/,
  ],
  [
    "closes in the middle of what it said that it would send",
    (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 100\r\n\r\nabc"),
    /could not be fetched/,
  ],
  ["says no HTTP", (socket) => socket.end("SSH-2.0-OpenSSH\r\n"), /could not be fetched/],
])("a server that %s holds nobody up", async (_what, speak, words) => {
  using server = await openRawServer(speak);
  const signal = new AbortController().signal;

  const asking = fetchBytes(
    new URL(`http://${server.place}/`),
    { signal },
    { allowPrivate: [server.place], pageMs: 400 },
  );

  await expect(asking).rejects.toThrow(words);
});

test("what the turn's end cuts is told as that, and not as the server's fault", async () => {
  using server = await openRawServer(() => undefined);
  const { desk, events } = openDesk();
  const stop = new AbortController();
  const call = { place, web: { ...web, allow: [server.place] }, signal: stop.signal };

  const asking = desk.fetch(`http://${server.place}/`, call);
  await expect.poll(() => events.length).toBe(1);
  stop.abort(new Error("stopped"));

  await expect(asking).rejects.toThrow("stopped");
  expect(events).toMatchObject([{ type: "web.asked" }, { type: "web.refused", data: { reason: "cancelled" } }]);
});

test("no cookie, key or query of one call is in another, in an event, or sent on to another place", async () => {
  await using other = await openWebSite({ "/": page("<p>there</p>") });
  await using site = await openWebSite({
    "/set": (response) => response.writeHead(200, { "set-cookie": "a=1", "content-type": "text/html" }).end("<p>x</p>"),
    "/away": redirect(`${other.url}/`),
  });
  const { events, fetch } = openDesk();
  const allow = [site.place, other.place];

  await fetch(`${site.url}/set?key=hush#part`, { allow });
  await fetch(`${site.url}/set`, { allow });
  await fetch(`${site.url}/away?key=hush`, { allow });

  expect(site.asked[0]).toBe("/set?key=hush");
  for (const sent of [...site.headers, ...other.headers]) {
    expect(sent.cookie).toBeUndefined();
    expect(sent.referer).toBeUndefined();
  }
  expect(JSON.stringify(events)).not.toContain("hush");
  expect(events[1]).toMatchObject({
    type: "web.answered",
    data: { use: "fetch", status: 200, bytes: 8, sha256: sha256("<p>x</p>") },
  });
});

test("a group has this many pages in a turn, in a day and at the same time, and the day begins anew", async () => {
  let now = Date.parse("2026-03-01T23:00:00Z");
  const release = Promise.withResolvers<void>();
  await using site = await openWebSite({
    "/": page("<p>hello</p>"),
    "/slow": (response) => void release.promise.then(() => response.end("late")),
  });
  const counted: number[] = [];
  const { fetch } = openDesk({
    now: () => now,
    countSince: async (_group, _use, since) => {
      counted.push(since);
      return now < Date.parse("2026-03-02") ? 5 : 0;
    },
  });
  const allow = [site.place];
  const get = (path: string, turn: string, fetchesPerDay = 500) =>
    fetch(`${site.url}${path}`, { allow, fetchesPerDay }, turn);

  const slow = ["a", "b", "c"].map((turn) => get("/slow", turn));
  await expect.poll(() => site.asked.length).toBe(3);
  await expect(get("/", "d")).rejects.toThrow(/at the moment/);
  release.resolve();
  await Promise.all(slow);
  await expect(get("/", "d", 8)).rejects.toThrow(/8 pages of today/);
  await get("/", "d", 9);
  await expect(get("/", "d", 9)).rejects.toThrow(/9 pages of today/);
  now += 2 * 3_600_000;
  await get("/", "d", 1);
  for (let count = 2; count < 40; count += 1) await get("/", "d");

  await expect(get("/", "d")).rejects.toThrow(/At most 40 pages/);
  expect(counted).toEqual([Date.parse("2026-03-01"), Date.parse("2026-03-02")]);
});

test("whatever is given as an address is fetched or refused in words, and nothing of this machine is asked", async () => {
  await using site = await openWebSite({});
  const { fetch } = openDesk({ resolve: async () => ["127.0.0.1"] });
  const hosts = fc.constantFrom(
    "127.0.0.1",
    "localhost",
    "[::1]",
    "0",
    "127.0.0.1.",
    "①②⑦.0.0.1",
    "127。0。0。1",
    "example.org",
  );
  const port = site.place.split(":")[1];

  await fc.assert(
    fc.asyncProperty(
      hosts,
      fc.string(),
      fc.constantFrom("http:", "https:", "HTTP:", "//", ""),
      async (host, path, scheme) => {
        await expect(fetch(`${scheme}//${host}:${port}/${path}`)).rejects.toMatchObject({ name: "ToolError" });
      },
    ),
    { numRuns: 300 },
  );

  expect(site.asked).toEqual([]);
});
