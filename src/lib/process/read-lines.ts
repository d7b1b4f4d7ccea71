import type { Readable } from "node:stream";

export interface ReadLinesOptions {
  /** Longest line that is read, in bytes. */
  readonly longest: number;
  /** Reason given for a line that is too long. */
  readonly tooLong: string;
  /** Takes a line without its end; what it returns is a fault. */
  readonly onLine: (line: Buffer) => string | undefined;
  /** The other side does not keep to the rules; nothing more is read. */
  readonly onFault: (reason: string) => void;
}

/** Reads lines from a process that may not keep to the rules, until its stream ends or there is a fault. */
export function readLines(stream: Readable, { longest, tooLong, onLine, onFault }: ReadLinesOptions): void {
  let pieces: Buffer[] = [];
  let bytes = 0;
  let isOver = false;
  const fail = (reason: string): void => {
    [isOver, pieces] = [true, []];
    onFault(reason);
  };
  stream.on("data", (chunk: Buffer) => {
    let rest = chunk;
    for (;;) {
      if (isOver) return;
      const end = rest.indexOf(10);
      const piece = end < 0 ? rest : rest.subarray(0, end);
      bytes += piece.length;
      if (bytes > longest) return fail(tooLong);
      pieces.push(piece);
      if (end < 0) return;
      const line = Buffer.concat(pieces);
      [pieces, bytes, rest] = [[], 0, rest.subarray(end + 1)];
      const fault = onLine(line);
      if (fault !== undefined) fail(fault);
    }
  });
}
