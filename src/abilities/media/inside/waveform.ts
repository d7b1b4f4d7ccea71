import { waveformBars } from "../../../processes/message-schemas.ts";

/** Milliseconds of a frame, by the configuration in a packet's first byte: RFC 6716, 3.1. */
const [silkMs, hybridMs, celtMs] = [
  [10, 20, 40, 60],
  [10, 20],
  [2.5, 5, 10, 20],
] as const;
/** Nothing in an Ogg page stands before this. */
const headBytes = 27;
/** Minimum difference of packet sizes, as a share of the largest; with less, a constant bit rate made them. */
const leastDifference = 0.2;

interface Packet {
  readonly ms: number;
  readonly bytes: number;
}

/**
 * Loudness of an Ogg Opus sound, 0 to 100, in as many steps as phones draw. Not decoded: loud moments take more bytes.
 * Undefined when the packet sizes tell nothing.
 */
export function waveformOf(bytes: Buffer): number[] | undefined {
  // The first two are its head and its tags.
  const packets = packetsOf(bytes).slice(2);
  const totalMs = packets.reduce((sum, { ms }) => sum + ms, 0);
  if (packets.length < waveformBars) return undefined;
  const bars = Array.from({ length: waveformBars }, () => ({ ms: 0, bytes: 0 }));
  let at = 0;
  for (const packet of packets) {
    const bar = bars[Math.min(waveformBars - 1, Math.floor((at / totalMs) * waveformBars))];
    if (bar) [bar.ms, bar.bytes] = [bar.ms + packet.ms, bar.bytes + packet.bytes];
    at += packet.ms;
  }
  const rates = bars.map((bar) => (bar.ms === 0 ? 0 : bar.bytes / bar.ms));
  const [least, most] = [Math.min(...rates), Math.max(...rates)];
  if (!(most - least > leastDifference * most)) return undefined;
  // Bytes grow about with the root of what is heard.
  return rates.map((rate) => Math.round(((rate - least) / (most - least)) ** 2 * 100));
}

function packetsOf(bytes: Buffer): Packet[] {
  const packets: Packet[] = [];
  let size = 0;
  let head: Buffer | undefined;
  for (let page = 0; bytes.toString("latin1", page, page + 4) === "OggS";) {
    const segments = bytes[page + headBytes - 1] ?? 0;
    let from = page + headBytes + segments;
    for (const length of bytes.subarray(page + headBytes, page + headBytes + segments)) {
      head ??= bytes.subarray(from, from + 2);
      [size, from] = [size + length, from + length];
      if (length === 255) continue;
      packets.push({ ms: lengthOf(head), bytes: size });
      [size, head] = [0, undefined];
    }
    page = from;
  }
  return packets;
}

/** Duration of a packet that begins with these bytes. */
function lengthOf([first = 0, second = 0]: Uint8Array): number {
  const configuration = first >> 3;
  const frameMs =
    configuration < 12
      ? silkMs[configuration % 4]
      : configuration < 16
        ? hybridMs[configuration % 2]
        : celtMs[configuration % 4];
  const code = first % 4;
  const frames = code === 0 ? 1 : code === 3 ? second % 64 : 2;
  return (frameMs ?? 0) * frames;
}
