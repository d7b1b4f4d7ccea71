import { once } from "node:events";
import { readFile, readdir } from "node:fs/promises";
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer, text } from "node:stream/consumers";
import { connect as connectTls, rootCertificates } from "node:tls";

import { expect, test } from "vitest";

import { egressRig } from "../../../support/egress-rig.ts";
import { testAuthority, tlsServer } from "../../../support/tls-authority.ts";

const authority = await testAuthority();
const ca = authority.certificate;

const connectTo = (target: string): string => `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`;
const get = "GET / HTTP/1.1\r\nhost: registry.test\r\nconnection: close\r\n\r\n";

test("a tunnel to an allowed host carries TLS both ways, and both its beginning and its end are on record", async () => {
  await using server = await tlsServer(authority, "registry.test", (_request, response) => response.end("hello"));
  const target = `registry.test:${server.port}`;
  await using rig = await egressRig({ allow: [target] });

  const secured = await rig.secure(target, { ca });
  secured.write(get);

  expect(await text(secured)).toContain("hello");
  await expect.poll(() => rig.events.map((event) => event.verdict)).toEqual(["allowed", "closed"]);
  const destination = { host: "registry.test", port: server.port };
  expect(rig.events[0]).toMatchObject({ rule: target, destination, address: "127.0.0.1" });
  expect(rig.events[1]).toMatchObject({ destination, rule: "done" });
  expect(rig.events[1]?.bytesUp).toBeGreaterThan(100);
  expect(rig.events[1]?.bytesDown).toBeGreaterThan(100);
});

test("a large download arrives whole, also when it is read slowly", async () => {
  const size = 20 * 1024 * 1024;
  await using server = await tlsServer(authority, "registry.test", (_request, response) => {
    response.end(Buffer.alloc(size, "x"));
  });
  const target = `registry.test:${server.port}`;
  await using rig = await egressRig({ allow: [target] });

  const secured = await rig.secure(target, { ca });
  secured.write(get);

  expect((await buffer(secured)).length).toBeGreaterThan(size);
});

test.each([
  ["a name that only begins like an allowed one", "registry.test.evil.test:443"],
  ["a name that only ends like an allowed one", "evilregistry.test:443"],
  ["another port", "registry.test:22"],
  ["a subdomain", "www.registry.test:443"],
])("%s is refused with the key of the configuration that would allow it", async (_what, target) => {
  await using rig = await egressRig({ allow: ["registry.test:443"] });

  const answer = await rig.answer(connectTo(target));

  expect(answer).toMatch(/^HTTP\/1\.1 403 /);
  expect(answer).toContain(`add "${target}" to groups.family.network.allow`);
  expect(rig.events).toEqual([
    expect.objectContaining({ verdict: "refused", rule: "allowlist", destination: expect.anything() as unknown }),
  ]);
});

test.each([
  ["plain http", "GET http://registry.test/ HTTP/1.1\r\nHost: registry.test\r\n\r\n", 405, "method"],
  ["an address", connectTo("127.0.0.1:443"), 400, "grammar"],
  ["an address in decimal", connectTo("2130706433:443"), 400, "grammar"],
  ["user info", connectTo("registry.test@evil.test:443"), 400, "grammar"],
  ["a port above all ports", connectTo("registry.test:65979"), 400, "grammar"],
  ["digits with letters", connectTo("registry.test:443abc"), 400, "grammar"],
  ["no port", connectTo("registry.test"), 400, "grammar"],
  ["a request that never ends", "x".repeat(9_000), 400, "too-long"],
  ["bare line feeds", "CONNECT registry.test:443 HTTP/1.1\n\r\n\r\n", 400, "malformed"],
])("%s is refused and put on record", async (_what, request, status, rule) => {
  await using rig = await egressRig({ allow: ["registry.test:443"] });

  const answer = await rig.answer(request);

  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(answer).toContain(`X-Crabpot-Rule: ${rule}\r\n`);
  expect(rig.events).toMatchObject([{ verdict: "refused", rule }]);
});

test.each([
  ["10.0.0.1"],
  ["127.0.0.1"],
  ["169.254.169.254"],
  ["100.64.0.1"],
  ["::1"],
  ["::ffff:10.0.0.1"],
  ["fd00::1"],
])("an allowed name that leads to %s is refused, also when another of its addresses is public", async (address) => {
  const resolve = async (): Promise<string[]> => Promise.resolve(["93.184.216.34", address]);
  await using rig = await egressRig({ allow: ["registry.test:443"] }, { addresses: { resolve } });

  const answer = await rig.answer(connectTo("registry.test:443"));

  expect(answer).toMatch(/^HTTP\/1\.1 403 /);
  expect(rig.events).toMatchObject([{ verdict: "refused", rule: "private-address" }]);
});

test("a host that the operator names as private is reached there, on this port only", async () => {
  await using here = await listener();
  await using other = await listener();
  const entries = [here, other].map(({ port }) => `registry.test:${port}`);
  const addresses = { resolve: async () => Promise.resolve(["127.0.0.1"]) };
  await using rig = await egressRig({ allow: entries, allowPrivate: entries.slice(0, 1) }, { addresses });

  const socket = await rig.tunnel(entries[0] ?? "");
  socket.destroy();
  const refused = await rig.answer(connectTo(entries[1] ?? ""));

  expect(refused).toMatch(/^HTTP\/1\.1 403 /);
});

test.each([["169.254.169.254"], ["0.0.0.0"], ["168.63.129.16"], ["224.0.0.1"], ["fe80::1"], ["::ffff:127.0.0.1"]])(
  "%s is refused also for a host that the operator names as private",
  async (address) => {
    const resolve = async (): Promise<string[]> => Promise.resolve([address]);
    const allow = ["registry.test:443"];
    await using rig = await egressRig({ allow, allowPrivate: allow }, { addresses: { resolve } });

    expect(await rig.answer(connectTo("registry.test:443"))).toMatch(/^HTTP\/1\.1 403 /);
  },
);

test("a name whose resolver does not answer is given up like a connection that is not made", async () => {
  const never = new Promise<string[]>(() => undefined);
  const addresses = { resolve: () => never, mayConnect: () => true };
  await using rig = await egressRig({ allow: ["registry.test:443"] }, { addresses, limits: { connectMs: 100 } });

  const answer = await rig.answer(connectTo("registry.test:443"));

  expect(answer).toMatch(/^HTTP\/1\.1 502 /);
  expect(rig.events).toMatchObject([{ verdict: "failed", rule: "dns" }]);
});

test("that a connection may be made is on record before it is made", async () => {
  // Nobody listens there, nor will anybody who wants a free port get this one.
  const target = "registry.test:1";
  await using rig = await egressRig({ allow: [target] });

  const answer = await rig.answer(connectTo(target));

  expect(answer).toMatch(/^HTTP\/1\.1 502 /);
  expect(rig.events).toMatchObject([
    { verdict: "allowed", address: "127.0.0.1" },
    { verdict: "failed", rule: "connect" },
  ]);
});

/** Counts what reaches it. */
async function listener(): Promise<{ port: number; received: Buffer[] } & AsyncDisposable> {
  const received: Buffer[] = [];
  const server = createServer((socket) => {
    socket.on("data", (chunk: Buffer) => received.push(chunk)).on("error", () => socket.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    received,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, "close");
      server.close();
      await closed;
    },
  };
}

test("in a tunnel, nothing but TLS for the host that was asked for gets to the other side", async () => {
  await using server = await listener();
  const target = `registry.test:${server.port}`;
  await using rig = await egressRig({ allow: [target] });

  const plain = await rig.tunnel(target);
  plain.write(get);
  await once(plain.resume(), "close");
  for (const servername of ["evil.test", ""]) {
    const tunnel = await rig.tunnel(target);
    const secured = connectTls({ socket: tunnel, servername, ca });
    secured.on("error", () => undefined);
    await once(tunnel, "close");
  }

  await expect
    .poll(() => rig.events.filter((event) => event.verdict === "refused").map((event) => event.rule))
    .toEqual(["not-tls", "sni", "no-sni"]);
  expect(server.received).toEqual([]);
});

test.each([
  ["bytes-per-tunnel", { bytesPerTunnel: 100_000 }],
  ["bytes-per-day", { bytesPerDay: 100_000 }],
  ["time", { tunnelMs: 300 }],
  ["idle", { idleMs: 200 }],
])("a tunnel ends at its limit: %s", async (rule, limits) => {
  const endless = ["bytes-per-tunnel", "bytes-per-day"].includes(rule);
  await using server = await tlsServer(authority, "registry.test", (_request, response) => {
    response.write(endless ? Buffer.alloc(1_000_000) : "x");
  });
  const target = `registry.test:${server.port}`;
  await using rig = await egressRig({ allow: [target] }, { limits });

  // The limit of time may come before TLS is there, on a slow machine.
  const secured = connectTls({ socket: await rig.tunnel(target), servername: "registry.test", ca });
  const closed = new Promise((resolve) => secured.once("close", resolve));
  secured.on("error", () => undefined).resume();
  secured.write(get);
  await closed;

  await expect.poll(() => rig.events.at(-1)).toMatchObject({ verdict: "closed", rule });
});

test("more tunnels at once than allowed are refused until one ends", async () => {
  await using server = await listener();
  const target = `registry.test:${server.port}`;
  await using rig = await egressRig({ allow: [target] }, { limits: { tunnels: 1 } });

  const first = await rig.tunnel(target);
  const refused = await rig.answer(connectTo(target));
  first.destroy();

  expect(refused).toMatch(/^HTTP\/1\.1 429 /);
  await expect
    .poll(async () =>
      rig.tunnel(target).then(
        () => "open",
        () => "refused",
      ),
    )
    .toBe("open");
});

test("a client that was refused and does not hang up is cut off, whatever it goes on to send", async () => {
  await using rig = await egressRig({ allow: ["registry.test:443"] });
  const socket = connect({ path: join(rig.folder, "proxy.sock"), allowHalfOpen: true });

  socket.resume().write(connectTo("evil.test:443"));
  const cut = await new Promise<Error>((resolve) => {
    const goOn = (error?: Error | null): void => {
      if (error) resolve(error);
      else socket.write(Buffer.alloc(65_536), goOn);
    };
    socket.on("error", resolve);
    goOn();
  });
  socket.destroy();

  expect(cut).toMatchObject({ code: expect.stringMatching(/EPIPE|ECONNRESET/) as string });
});

test("requests beyond the limit of a minute are refused with one record for all of them", async () => {
  await using rig = await egressRig({ allow: ["registry.test:443"] }, { limits: { requestsPerMinute: 2 } });

  const answers: string[] = [];
  for (let count = 0; count < 6; count += 1) answers.push(await rig.answer(connectTo("evil.test:443")));

  expect(answers.filter((answer) => answer.startsWith("HTTP/1.1 429"))).toHaveLength(4);
  expect(rig.events).toHaveLength(3);
});

test("authorities that the host trusts besides the usual ones are trusted in containers, too", async () => {
  const allow = ["registry.test:443"];
  await using usual = await egressRig({ allow });
  await using own = await egressRig({ allow }, {}, ["-----BEGIN CERTIFICATE-----\nours"]);

  const trusted = await readFile(join(own.folder, "certificates.pem"), "utf8");

  expect(await readdir(usual.folder)).toEqual(["proxy.sock"]);
  expect(trusted).toContain("-----BEGIN CERTIFICATE-----\nours");
  expect(trusted).toContain(rootCertificates[0]);
});
