/** The few forms of DER (X.690) that a certificate is made of. */
export const der = {
  sequence: (...parts: readonly Buffer[]): Buffer => tagged(0x30, Buffer.concat(parts)),
  set: (...parts: readonly Buffer[]): Buffer => tagged(0x31, Buffer.concat(parts)),
  /** A field `[number]` that holds another value. */
  explicit: (number: number, inner: Buffer): Buffer => tagged(0xa0 + number, inner),
  /** A field `[number]` whose own type is replaced by that number. */
  implicit: (number: number, content: Buffer): Buffer => tagged(0x80 + number, content),
  /** A number from its bytes, which are never read as a negative one. */
  integer: (bytes: Buffer): Buffer =>
    tagged(0x02, (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes),
  true: (): Buffer => tagged(0x01, Buffer.from([0xff])),
  bits: (bytes: Buffer, unused = 0): Buffer => tagged(0x03, Buffer.concat([Buffer.from([unused]), bytes])),
  octets: (bytes: Buffer): Buffer => tagged(0x04, bytes),
  text: (text: string): Buffer => tagged(0x0c, Buffer.from(text)),
  /** Until 2049: two digits of the year. */
  time: (at: Date): Buffer =>
    tagged(0x17, Buffer.from(`${at.toISOString().replaceAll(/[-:T]/g, "").slice(2, 14)}Z`, "latin1")),
  identifier: (dotted: string): Buffer => {
    const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
    return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
  },
} as const;

function tagged(tag: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag, ...lengthBytes(content.length)]), content]);
}

function lengthBytes(length: number): number[] {
  if (length < 0x80) return [length];
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
}

function base128(value: number): number[] {
  const bytes = [value & 0x7f];
  for (let rest = value >> 7; rest > 0; rest >>= 7) bytes.unshift(0x80 | (rest & 0x7f));
  return bytes;
}
