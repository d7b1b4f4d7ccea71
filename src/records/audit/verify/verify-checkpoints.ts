import { readLines } from "../log-files.ts";
import { genesisHash } from "../record.ts";
import {
  type Checkpoint,
  isBeginningOfNote,
  isSignedBy,
  noteHash,
  noteLines,
  originOf,
  parseNote,
  type SignedNote,
  type VerificationKey,
} from "../signed-note.ts";

/** A good note, the first bad one, or what a crash left of the last one. Nothing follows the latter two. */
export type CheckedNote =
  | { readonly kind: "note"; readonly checkpoint: Checkpoint }
  | { readonly kind: "fault"; readonly line: number; readonly reason: string }
  | { readonly kind: "unfinished"; readonly bytes: number };

/** Far more than any note has bytes. */
const longestNote = 4_096;

const notANote = "this is not a checkpoint";

/** Reads a file of signed notes in constant memory; without a key all but the signatures is checked. */
export async function* readCheckpoints(path: string, key: VerificationKey | undefined): AsyncGenerator<CheckedNote> {
  let before: SignedNote | undefined;
  let lines: string[] = [];
  let rest: Buffer = Buffer.alloc(0);
  let start = 1;
  for await (const { bytes, number, end } of readLines(path)) {
    if (end !== "line-feed") {
      rest = bytes;
      break;
    }
    lines.push(bytes.toString("utf8"));
    if (lines.length < noteLines) continue;
    const signed = parseNote(lines);
    const reason = signed ? fault(signed, before, key) : notANote;
    if (reason !== undefined) yield { kind: "fault", line: start, reason };
    if (!signed || reason !== undefined) return;
    yield { kind: "note", checkpoint: signed.checkpoint };
    before = signed;
    lines = [];
    start = number + 1;
  }
  if (lines.length > 0 || rest.length > 0) yield endWithoutEnd(lines, rest, start);
}

/** Judges the rest after the last whole note: an incomplete note, or a fault. */
function endWithoutEnd(lines: readonly string[], rest: Buffer, line: number): CheckedNote {
  if (rest.length > longestNote || !isBeginningOfNote(lines, rest.toString("utf8"))) {
    return { kind: "fault", line, reason: notANote };
  }
  return { kind: "unfinished", bytes: Buffer.byteLength(lines.map((text) => `${text}\n`).join("")) + rest.length };
}

function fault(
  signed: SignedNote,
  before: SignedNote | undefined,
  key: VerificationKey | undefined,
): string | undefined {
  const { origin, size, previous } = signed.checkpoint;
  if (key && (origin !== key.name || !isSignedBy(signed, key)))
    return "this checkpoint is not signed by the home's key";
  if (!before) {
    const first = genesisHash(origin.slice(originOf("").length));
    return previous === first ? undefined : "the checkpoints before this one are missing";
  }
  if (origin !== before.checkpoint.origin) return "this checkpoint is of another log";
  if (size <= before.checkpoint.size)
    return `this checkpoint goes back from record ${before.checkpoint.size} to ${size}`;
  if (previous !== noteHash(before.note)) return "this checkpoint does not follow the one before it";
  return undefined;
}
