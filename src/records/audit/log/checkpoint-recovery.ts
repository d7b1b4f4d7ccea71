import { join } from "node:path";

import { cutAfter, type CutTail, lastLines } from "./file-tail.ts";
import { checkpointsFile } from "../log-files.ts";
import { isSignedBy, noteHash, noteLines, parseNote, type VerificationKey } from "../signed-note.ts";

export interface RecoveredNotes {
  /** `seq` up to which the last note covers the log; 0 when there is none. */
  readonly covered: number;
  readonly noteHash: string | undefined;
  readonly cut: CutTail | undefined;
  readonly broken: readonly string[];
}

/** Cuts off a note that was not written to its end, and finds the last one. */
export async function recoverCheckpoints(folder: string, key: VerificationKey): Promise<RecoveredNotes> {
  const path = join(folder, checkpointsFile);
  const cut = await cutAfter(path, endOfLastNote);
  const lines = await lastLines(path, noteLines);
  if (lines.length === 0) return { covered: 0, noteHash: undefined, cut, broken: [] };
  const signed = parseNote(lines.map(String));
  if (!signed) return { covered: 0, noteHash: undefined, cut, broken: ["the last checkpoint is damaged"] };
  const known = isSignedBy(signed, key);
  return {
    covered: signed.checkpoint.size,
    noteHash: noteHash(signed.note),
    cut,
    broken: known ? [] : ["the last checkpoint is not signed by this home's key: it, or the key, was replaced"],
  };
}

/** Notes end with a signature and an empty line. */
function endOfLastNote(tail: Buffer): number {
  const text = tail.toString("latin1");
  const dash = Buffer.from("—").toString("latin1");
  const signature = text.lastIndexOf(`\n${dash} `);
  const end = signature < 0 ? -1 : text.indexOf("\n\n", signature + 1);
  if (end >= 0) return end + 2;
  // The last signature has no end: the note before it is the last whole one.
  const before = signature <= 0 ? -1 : text.lastIndexOf(`\n${dash} `, signature - 1);
  return before < 0 ? 0 : text.indexOf("\n\n", before + 1) + 2;
}
