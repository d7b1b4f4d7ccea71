/** Pictures that are kept in files like those of videos. */
export type HeifKind = "heic" | "avif";

const kinds: Readonly<Record<HeifKind, ReadonlySet<string>>> = {
  avif: new Set(["avif", "avis"]),
  heic: new Set(["heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs"]),
};
/** Pictures or sequences of them, with any codec. */
const general: ReadonlySet<string> = new Set(["mif1", "mif2", "msf1", "miaf"]);
const brandBytes = 4;
const listedBytes = 256;

/** By the formats that such a file says that it keeps to; undefined for videos and all else. */
export function heifKind(head: Buffer): HeifKind | undefined {
  if (head.toString("latin1", brandBytes, 2 * brandBytes) !== "ftyp" || head.length < 3 * brandBytes) return undefined;
  const main = brandAt(head, 2 * brandBytes);
  const brands = [main];
  const end = Math.min(head.readUInt32BE(0), head.length, listedBytes);
  for (let at = 4 * brandBytes; at + brandBytes <= end; at += brandBytes) brands.push(brandAt(head, at));
  const found = (["avif", "heic"] as const).find((kind) => brands.some((brand) => kinds[kind].has(brand)));
  return found ?? (general.has(main) ? "heic" : undefined);
}

function brandAt(head: Buffer, at: number): string {
  return head.toString("latin1", at, at + brandBytes);
}
