/** By its first page: what is in it is not looked at. */
export function isOggOpus(bytes: Uint8Array): boolean {
  const text = (from: number, to: number): string => Buffer.from(bytes.subarray(from, to)).toString("latin1");
  return text(0, 4) === "OggS" && text(28, 36) === "OpusHead";
}
