import { once } from "node:events";
import { duplexPair } from "node:stream";
import { connect } from "node:tls";

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { maxHelloBytes, readClientHello } from "../../../../src/sandbox/egress/client-hello.ts";

/** First bytes of Node's own TLS. */
async function helloFor(servername: string): Promise<Buffer> {
  const [near, far] = duplexPair();
  const client = connect({ socket: near, servername });
  client.on("error", () => undefined);
  const [bytes] = (await once(far, "data")) as [Buffer];
  client.destroy();
  far.destroy();
  return bytes;
}

const hello = await helloFor("registry.test");

test("the name in a real ClientHello is found, also when it is cut into several records", () => {
  const cut = inRecords(hello.subarray(5), 250);

  expect(readClientHello(hello)).toEqual({ kind: "named", host: "registry.test" });
  expect(readClientHello(cut)).toEqual({ kind: "named", host: "registry.test" });
  expect(readClientHello(Buffer.concat([hello, Buffer.from("more")]))).toEqual({
    kind: "named",
    host: "registry.test",
  });
});

/** A handshake in as many records as it takes when each has `size` bytes. */
function inRecords(content: Buffer, size: number): Buffer {
  const records: Buffer[] = [];
  for (let at = 0; at < content.length; at += size) {
    const part = content.subarray(at, at + size);
    records.push(Buffer.from([22, 3, 1, 0, part.length]), part);
  }
  return Buffer.concat(records);
}

test("a ClientHello in hundreds of tiny records, which keeps its reader busy, is refused after the first few", () => {
  const content = Buffer.alloc(5_000);
  content.writeUInt32BE(0x01_00_7f_f0);

  expect(readClientHello(inRecords(content, 1))).toMatchObject({ kind: "refused", rule: "not-tls" });
  expect(readClientHello(inRecords(hello.subarray(5), 1))).toMatchObject({ kind: "refused", rule: "not-tls" });
});

test("every beginning of it is incomplete, never something else", () => {
  for (let length = 0; length < hello.length; length += 1) {
    expect(readClientHello(hello.subarray(0, length))).toEqual({ kind: "incomplete" });
  }
});

test("one without a name is refused", async () => {
  expect(readClientHello(await helloFor(""))).toMatchObject({ kind: "refused", rule: "no-sni" });
});

/** Content behind its length, which has `size` bytes. */
function block(size: number, content: Buffer): Buffer {
  const length = Buffer.alloc(size);
  length.writeUIntBE(content.length, 0, size);
  return Buffer.concat([length, content]);
}

/** A ClientHello with these extensions. */
function made(...extensions: readonly [number, Buffer][]): Buffer {
  const list = extensions.map(([type, content]) =>
    Buffer.concat([Buffer.from([type >> 8, type & 255]), block(2, content)]),
  );
  const body = Buffer.concat([
    Buffer.alloc(34, 3),
    block(1, Buffer.alloc(0)),
    block(2, Buffer.from([19, 1])),
    block(1, Buffer.from([0])),
    block(2, Buffer.concat(list)),
  ]);
  const handshake = Buffer.concat([Buffer.from([1]), block(3, body)]);
  return Buffer.concat([Buffer.from([22, 3, 1]), block(2, handshake)]);
}

function nameList(...names: readonly string[]): Buffer {
  const entries = names.map((name) => Buffer.concat([Buffer.from([0, 0, name.length]), Buffer.from(name)]));
  const joined = Buffer.concat(entries);
  return Buffer.concat([Buffer.from([joined.length >> 8, joined.length & 255]), joined]);
}

/** A record with more bytes in it. */
function withMore(record: Buffer, more: Buffer): Buffer {
  return Buffer.concat([record.subarray(0, 3), block(2, Buffer.concat([record.subarray(5), more]))]);
}

test.each([
  ["two names in the list", made([0, nameList("a.test", "b.test")]), "not-tls"],
  ["two lists of names", made([0, nameList("a.test")], [0, nameList("b.test")]), "not-tls"],
  ["an encrypted one beside the name", made([0, nameList("a.test")], [0xfe0d, Buffer.alloc(8)]), "ech"],
  ["a record of another kind", Buffer.from([23, 3, 3, 0, 1, 0]), "not-tls"],
  ["SSL 2", Buffer.from([0x80, 0x2e, 1, 0, 2]), "not-tls"],
  ["plain HTTP", Buffer.from("GET / HTTP/1.1\r\n\r\n"), "not-tls"],
  ["another handshake message", Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0]), "not-tls"],
  ["a second message behind it, in the same record", withMore(hello, Buffer.from([1, 0, 0, 0])), "not-tls"],
  ["an empty record", Buffer.from([22, 3, 1, 0, 0]), "not-tls"],
  ["one that is announced as endless", Buffer.from([22, 3, 1, 0, 4, 1, 255, 255, 255]), "not-tls"],
])("refused: %s", (_what, bytes, rule) => {
  expect(readClientHello(bytes)).toMatchObject({ kind: "refused", rule });
});

test("no change of a byte and no other bytes make it throw, and it always decides at the limit", () => {
  fc.assert(
    fc.property(fc.nat(hello.length - 1), fc.nat(255), (at, byte) => {
      const changed = Buffer.from(hello);
      changed[at] = byte;
      readClientHello(changed);
    }),
    { numRuns: 3_000 },
  );
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void readClientHello(Buffer.from(bytes))));
  const endless = Buffer.alloc(maxHelloBytes, Buffer.from([22, 3, 1, 0, 1, 1]));
  expect(readClientHello(endless).kind).not.toBe("incomplete");
});
