import { hasDisplayP3Primaries } from "./display-p3.ts";

/** What a HEIC or AVIF file says of the pictures in it. */
export interface HeifContents {
  /** The one that the file is about; undefined: it has no still picture. */
  readonly primary: number | undefined;
  /** Pictures that people would look at, or frames of a sequence. */
  readonly frames: number;
  /** Of pictures other than the primary one, where the byte lies whose lowest bit hides them. */
  readonly flagsOfOthers: readonly number[];
  /** Its numbers are colours of Display P3, as phones write them. */
  readonly isDisplayP3: boolean;
}

interface Box {
  readonly type: string;
  /** Where its content begins and ends in the file. */
  readonly from: number;
  readonly to: number;
}

interface Item {
  readonly id: number;
  readonly type: string;
  readonly flagsAt: number;
  readonly isHidden: boolean;
}

const sequences: ReadonlySet<string> = new Set(["avis", "msf1", "hevc", "hevx", "hevm", "hevs"]);
/**
 * Items that are coded or put together from others; `tmap`, which says how to brighten a picture, is no picture of its
 * own.
 */
const pictureTypes: ReadonlySet<string> = new Set([
  "hvc1",
  "av01",
  "avc1",
  "jpeg",
  "grid",
  "iovl",
  "iden",
  "lhv1",
  "unci",
]);
/** Small pictures, and masks and depths, refer to what they belong to. */
const belonging: ReadonlySet<string> = new Set(["thmb", "auxl"]);
const mostBoxes = 10_000;
/** Version and flags, which some boxes begin with. */
const versionBytes = 4;

/** Looks at the boxes of the file; what is damaged in them is passed over. */
export function heifContents(file: Buffer): HeifContents {
  const top = boxesIn(file, 0, file.length);
  const meta = inside(file, top, "meta", versionBytes);
  const primary = primaryOf(file, meta);
  const items = itemsOf(file, meta);
  const pictures = items.filter(({ type }) => pictureTypes.has(type));
  const isSequence = sequences.has(file.toString("latin1", 8, 12));
  return {
    primary,
    frames: Math.max(1, isSequence ? samplesOf(file, top) : 0, seenOf(file, meta, pictures)),
    flagsOfOthers: pictures.filter(({ id }) => id !== primary).map(({ flagsAt }) => flagsAt),
    isDisplayP3: inside(file, inside(file, meta, "iprp"), "ipco").some((box) => isDisplayP3(file, box)),
  };
}

function* walk(file: Buffer, from: number, to: number): Generator<Box> {
  for (let at = from, count = 0; at + 8 <= to && count < mostBoxes; count += 1) {
    const isLong = file.readUInt32BE(at) === 1;
    if (isLong && at + 16 > to) return;
    const size = isLong ? Number(file.readBigUInt64BE(at + 8)) : file.readUInt32BE(at) || to - at;
    const end = at + size;
    const header = isLong ? 16 : 8;
    if (size < header || end > to) return;
    yield { type: file.toString("latin1", at + 4, at + 8), from: at + header, to: end };
    at = end;
  }
}

function boxesIn(file: Buffer, from: number, to: number): readonly Box[] {
  return [...walk(file, from, to)];
}

function inside(file: Buffer, boxes: readonly Box[], type: string, skipped = 0): readonly Box[] {
  const box = boxes.find((one) => one.type === type);
  return box === undefined ? [] : boxesIn(file, box.from + skipped, box.to);
}

/** A number of 4 bytes, or of 2; undefined where the box ends before. */
function numberAt(file: Buffer, at: number, box: Box, isWide = true): number | undefined {
  if (at + (isWide ? 4 : 2) > box.to) return undefined;
  return isWide ? file.readUInt32BE(at) : file.readUInt16BE(at);
}

function primaryOf(file: Buffer, meta: readonly Box[]): number | undefined {
  const box = meta.find(({ type }) => type === "pitm");
  return box && numberAt(file, box.from + versionBytes, box, (file[box.from] ?? 0) > 0);
}

function itemsOf(file: Buffer, meta: readonly Box[]): readonly Item[] {
  const list = meta.find(({ type }) => type === "iinf");
  if (list === undefined) return [];
  const countBytes = (file[list.from] ?? 0) === 0 ? 2 : 4;
  return boxesIn(file, list.from + versionBytes + countBytes, list.to).flatMap((box) => {
    const version = file[box.from] ?? 0;
    const idBytes = version < 3 ? 2 : 4;
    const id = numberAt(file, box.from + versionBytes, box, idBytes === 4);
    const typeAt = box.from + versionBytes + idBytes + 2;
    if (box.type !== "infe" || version < 2 || id === undefined || typeAt + 4 > box.to) return [];
    const flagsAt = box.from + versionBytes - 1;
    const isHidden = ((file[flagsAt] ?? 0) & 1) === 1;
    return [{ id, type: file.toString("latin1", typeAt, typeAt + 4), flagsAt, isHidden }];
  });
}

/** By the primaries of its ICC profile, or by the numbers that video standards have for primaries and curve. */
function isDisplayP3(file: Buffer, { type, from, to }: Box): boolean {
  if (type !== "colr" || from + 8 > to) return false;
  if (file.toString("latin1", from, from + 4) === "nclx")
    return file.readUInt16BE(from + 4) === 12 && file.readUInt16BE(from + 6) === 13;
  return hasDisplayP3Primaries(file.subarray(from + 4, to));
}

/** How many pictures are neither hidden, nor part of another one, nor belong to one. */
function seenOf(file: Buffer, meta: readonly Box[], pictures: readonly Item[]): number {
  const list = meta.find(({ type }) => type === "iref");
  const unseen = new Set(pictures.filter(({ isHidden }) => isHidden).map(({ id }) => id));
  const idBytes = list && (file[list.from] ?? 0) > 0 ? 4 : 2;
  for (const box of list ? boxesIn(file, list.from + versionBytes, list.to) : []) {
    const from = numberAt(file, box.from, box, idBytes === 4);
    if (from !== undefined && belonging.has(box.type)) unseen.add(from);
    if (box.type === "dimg") for (const id of targetsOf(file, box, idBytes)) unseen.add(id);
  }
  return pictures.filter(({ id }) => !unseen.has(id)).length;
}

/** What a reference leads to: behind its own number there is a count, and then so many. */
function targetsOf(file: Buffer, box: Box, idBytes: number): readonly number[] {
  const ids: number[] = [];
  for (let at = box.from + idBytes + 2; at + idBytes <= box.to; at += idBytes)
    ids.push(numberAt(file, at, box, idBytes === 4) ?? 0);
  return ids;
}

/** The frames of the first track of pictures. */
function samplesOf(file: Buffer, top: readonly Box[]): number {
  const tracks = inside(file, top, "moov").filter(({ type }) => type === "trak");
  for (const track of tracks) {
    const media = inside(file, boxesIn(file, track.from, track.to), "mdia");
    const handler = media.find(({ type }) => type === "hdlr");
    const kind = handler && file.toString("latin1", handler.from + 8, handler.from + 12);
    if (kind !== "pict" && kind !== "vide") continue;
    const sizes = inside(file, inside(file, media, "minf"), "stbl").find(({ type }) => type === "stsz");
    return (sizes && numberAt(file, sizes.from + versionBytes + 4, sizes)) ?? 0;
  }
  return 0;
}
