import { readLines } from "./log-files.ts";
import { genesisHash } from "./record.ts";
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
} from "./signed-note.ts";

/** A good note, the first bad one, or what a crash left of the last one. Nothing follows the latter two. */
export type CheckedNote =
  | { readonly kind: "note"; readonly checkpoint: Checkpoint }
  | { readonly kind: "fault"; readonly line: number; readonly reason: string }
  | { readonly kind: "unfinished"; readonly bytes: number };

const notANote = "this is not a checkpoint";

/** Reads a file of signed notes in constant memory; without a key all but the signatures is checked. */
export async function* readCheckpoints(path: string, key: VerificationKey | undefined): AsyncGenerator<CheckedNote> {
  let before: SignedNote | undefined;
  let lines: string[] = [];
  let rest: Buffer = Buffer.alloc(0);
  let start = 1;
  for await (const { bytes, number, complete } of readLines(path)) {
    if (!complete) {
      rest = bytes;
      break;
    }
    if (lines.length === 0) start = number;
    lines.push(bytes.toString("utf8"));
    if (lines.length < noteLines) continue;
    const signed = parseNote(lines);
    const reason = signed ? fault(signed, before, key) : notANote;
    if (reason !== undefined) yield { kind: "fault", line: start, reason };
    if (!signed || reason !== undefined) return;
    yield { kind: "note", checkpoint: signed.checkpoint };
    before = signed;
    lines = [];
  }
  if (lines.length === 0 && rest.length === 0) return;
  if (!isBeginningOfNote(lines, rest.toString("utf8"))) {
    yield { kind: "fault", line: start, reason: notANote };
    return;
  }
  yield { kind: "unfinished", bytes: Buffer.byteLength(lines.map((line) => `${line}\n`).join("")) + rest.length };
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
