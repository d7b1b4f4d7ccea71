import { constants, deflateRawSync, gzipSync } from "node:zlib";

const mebibyte = 1024 * 1024;

/** Packed bytes of this many mebibytes. All equal, so packed once; the checksum at the unreachable end is missing. */
export function bombOf(mebibytes: number): Buffer {
  const begin = gzipSync("").subarray(0, 10);
  const one = deflateRawSync(Buffer.alloc(mebibyte, "A"), { finishFlush: constants.Z_FULL_FLUSH });
  return Buffer.concat([begin, ...Array.from({ length: mebibytes }, () => one), deflateRawSync("")]);
}
