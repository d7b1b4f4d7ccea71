import { constants, deflateRawSync, gzipSync } from "node:zlib";

const mebibyte = 1024 * 1024;

/**
 * So many mebibytes, packed. All the same, so that one is packed once; the sum at the end, which nobody comes to, is
 * missing.
 */
export function bombOf(mebibytes: number): Buffer {
  const begin = gzipSync("").subarray(0, 10);
  const one = deflateRawSync(Buffer.alloc(mebibyte, "A"), { finishFlush: constants.Z_FULL_FLUSH });
  return Buffer.concat([begin, ...Array.from({ length: mebibytes }, () => one), deflateRawSync("")]);
}
