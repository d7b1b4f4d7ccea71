import { networkInterfaces } from "node:os";

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { parseDestination } from "../../../../src/domain/sandbox/egress.ts";
import { parseConnectRequest } from "../../../../src/sandbox/egress/connect-request.ts";
import { publicAddressCheck } from "../../../../src/lib/http/public-address.ts";

test.each(["registry.example:443", "a.b:1", "xn--bcher-kva.example:8443", "1password.com:65535", "a-b.c-d.io:22"])(
  "%s is a destination",
  (text) => {
    const { host, port } = parseDestination(text) ?? {};

    expect(`${host}:${port}`).toBe(text);
  },
);

const wrong = [
  "|:|host|host:443|a.b|a.b:|a.b:0|a.b:00443|a.b:443 | a.b:443|a.b:65536|a.b:65979|a.b:443abc|a.b:+443|a.b:4_3",
  "A.b:443|a.b.:443|.a.b:443|a..b:443|-a.b:443|a-.b:443|a_b.c:443|*.b.c:443|user@a.b:443|a.b%2e:443|a.b:443:443",
  "[::1]:443|::1:443|1.2.3.4:443|0x7f.1:443|127.1:443|1.2.3.0x4:443|017700000001:443|büch.er:443|a.b\n:443|a.b\0:443",
  `${"a".repeat(64)}.b:443|${"a.".repeat(127)}b:443`,
].flatMap((line) => line.split("|"));

test.each(wrong)("%j is not a destination", (text) => {
  expect(parseDestination(text)).toBeUndefined();
});

test("whatever is accepted is spelled in exactly one way", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("a", "b", "1", ".", "-", ":", "_", "@", "%", "A", "0"), maxLength: 20 }),
      (text) => {
        const found = parseDestination(text);
        const spelled = found ? `${found.host}:${found.port}` : text;
        expect(spelled).toBe(text);
      },
    ),
    { numRuns: 5_000 },
  );
});

test("no bytes make the reader of requests throw, and what it accepts names exactly what was written", () => {
  const piece = fc.constantFrom("CONNECT ", "a.b:443", " HTTP/1.1", "\r\n", "\n", "\r", "Host: ", "\0", ":", "x", " ");
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string({ maxLength: 4 })), { maxLength: 12 }), (pieces) => {
      const text = `${pieces.join("")}\r\n\r\n`;
      const request = parseConnectRequest(text);
      const { host, port } = request.ok ? request.destination : { host: "", port: 0 };
      expect(!request.ok || text.startsWith(`CONNECT ${host}:${port} HTTP/1.`)).toBe(true);
    }),
    { numRuns: 5_000 },
  );
});

test.each([
  ["two Host headers", "Host: a.b:443\r\nHost: a.b:443\r\n"],
  ["a Host header that names another place", "Host: c.d:443\r\n"],
  ["a body", "Content-Length: 3\r\n"],
  ["a chunked body", "Transfer-Encoding: chunked\r\n"],
  ["a folded header", "X: a\r\n b\r\n"],
  ["a blank before the colon", "X : a\r\n"],
  ["a bare carriage return", "X: a\rb\r\n"],
  ["a NUL", "X: a\0\r\n"],
])("a request with %s is malformed", (_what, headers) => {
  const request = parseConnectRequest(`CONNECT a.b:443 HTTP/1.1\r\n${headers}\r\n`);

  expect(request).toMatchObject({ ok: false, status: 400, rule: "malformed" });
});

test.each([
  ["1.1.1.1", true],
  ["93.184.216.34", true],
  ["172.15.255.255", true],
  ["172.32.0.0", true],
  ["2606:4700::1111", true],
  ["0.0.0.0", false],
  ["10.1.2.3", false],
  ["127.0.0.53", false],
  ["100.100.100.200", false],
  ["169.254.169.254", false],
  ["168.63.129.16", false],
  ["172.16.0.1", false],
  ["192.168.1.1", false],
  ["224.0.0.1", false],
  ["255.255.255.255", false],
  ["::", false],
  ["::1", false],
  ["::ffff:1.1.1.1", false],
  ["::ffff:127.0.0.1", false],
  ["64:ff9b::7f00:1", false],
  ["2002:7f00:1::", false],
  ["2001::1", false],
  ["fe80::1", false],
  ["fe80::1%eth0", false],
  ["fd00:ec2::254", false],
  ["ff02::1", false],
  ["not an address", false],
])("the address %s is public: %s", (address, expected) => {
  expect(publicAddressCheck()(address)).toBe(expected);
});

test("what is on a network of this machine is not public, whatever its address looks like", () => {
  const check = publicAddressCheck(() => ["93.184.216.1/29", "2606:4700:1:2::77/64", "fe80::1/64"]);

  const addresses = ["93.184.216.6", "2606:4700:1:2::1", "93.184.216.9", "2606:4700:1:3::1"];

  expect(addresses.map(check)).toEqual([false, false, true, true]);
});

test("addresses of this machine's own interfaces are never public", () => {
  const own = Object.values(networkInterfaces()).flatMap((list) => list?.map(({ address }) => address) ?? []);

  expect(own.filter(publicAddressCheck())).toEqual([]);
});
