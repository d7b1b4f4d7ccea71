import { createHash } from "node:crypto";
import { crc32, deflateSync } from "node:zlib";

/** Returns a real one-color PNG, different for each text; `said` goes into its metadata. */
export function pngOf(text: string, said?: string): Buffer {
  const [width, height] = [24, 16];
  const colour = createHash("sha256").update(text).digest().subarray(0, 3);
  const row = Buffer.concat([Buffer.from([0]), ...Array.from({ length: width }, () => colour)]);
  return pngFile({ width, height, said }, deflateSync(Buffer.concat(Array.from({ length: height }, () => row))));
}

/** A PNG in 24 bits that says that it is so large, with this as its content. */
export function pngFile(
  { width, height, said }: { readonly width: number; readonly height: number; readonly said?: string | undefined },
  content: Buffer,
): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const text = said === undefined ? [] : [chunk("tEXt", Buffer.from(`Comment\0${said}`, "latin1"))];
  const chunks = [chunk("IHDR", header), ...text, chunk("IDAT", content), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), ...chunks]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

/** A GIF that says that it is so large, with many frames that say the same. */
export function gifBomb(frames: number): Buffer {
  const size = "\xff\xff\xff\xff";
  const head = Buffer.from(`GIF89a${size}\x80\x00\x00\x00\x00\x00\xff\xff\xff`, "latin1");
  const frame = Buffer.from(`,\x00\x00\x00\x00${size}\x00\x02\x02\x44\x01\x00`, "latin1");
  return Buffer.concat([head, ...Array.from({ length: frames }, () => frame), Buffer.from(";")]);
}

/** Prompt text including the bytes of its pictures. */
export function withPictures(text: string): string {
  const pictures = [...text.matchAll(/data:image\/\w+;base64,([A-Za-z0-9+/=]+)/g)];
  return text + pictures.map(([, data = ""]) => Buffer.from(data, "base64").toString("latin1")).join("\n");
}

const jpeg = Buffer.from(
  "/9j/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6jq62rZ4C8ybqmx5moq6T/2wBDARweHigjKE4rK06kbl1upKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKT/wAARCAAQABADASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAP/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFAEBAAAAAAAAAAAAAAAAAAAABP/EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAMAwEAAhEDEQA/AIACGv/Z",
  "base64",
);
const gif = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
const webp = Buffer.from("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==", "base64");

/** A small, real JPEG with these segments behind its start: `[0xe1, "Exif\0\0…"]`. */
export function jpegWith(segments: readonly (readonly [kind: number, content: string])[]): Buffer {
  const made = segments.map(([kind, content]) => {
    const body = Buffer.from(content, "latin1");
    const head = Buffer.from([0xff, kind, 0, 0]);
    head.writeUInt16BE(body.length + 2, 2);
    return Buffer.concat([head, body]);
  });
  return Buffer.concat([jpeg.subarray(0, 2), ...made, jpeg.subarray(2)]);
}

/** A real GIF of one pixel with a comment, and more behind its end. */
export function gifWith(comment: string, behind: string): Buffer {
  const said = Buffer.from(comment, "latin1");
  const block = Buffer.concat([Buffer.from([0x21, 0xfe, said.length]), said, Buffer.from([0])]);
  // Its header and two colours come first.
  return Buffer.concat([gif.subarray(0, 19), block, gif.subarray(19), Buffer.from(behind)]);
}

/** A real WebP of one pixel with chunks behind its picture. */
export function webpWith(chunks: Readonly<Record<string, string>>): Buffer {
  const made = Object.entries(chunks).map(([name, text]) => {
    const head = Buffer.from(`${name}\0\0\0\0`, "latin1");
    head.writeUInt32LE(text.length, 4);
    return Buffer.concat([head, Buffer.from(text.padEnd(text.length + (text.length % 2), "\0"))]);
  });
  const whole = Buffer.concat([webp, ...made]);
  whole.writeUInt32LE(whole.length - 8, 4);
  return whole;
}

/** A real PNG with chunks of these kinds. */
export function pngWith(chunks: Readonly<Record<string, string>>): Buffer {
  const plain = pngOf("with chunks");
  const made = Object.entries(chunks).map(([kind, text]) => chunk(kind, Buffer.from(text, "latin1")));
  // Behind the header: 8 bytes say that it is a PNG, 25 are the header.
  return Buffer.concat([plain.subarray(0, 33), ...made, plain.subarray(33)]);
}
