import { readFile } from "node:fs/promises";

import * as z from "zod";

import { nothingIfMissing } from "../../../lib/app-error.ts";
import { writeWhole } from "../../../lib/files/guarded-change.ts";

const versions = z.array(z.strictObject({ name: z.string(), sha256: z.string() }));

const state = z.strictObject({
  version: z.literal(1),
  /** When the sources are to be asked next. */
  next: z.iso.datetime(),
  /** Results of the last check. */
  last: z
    .strictObject({
      /** When, which names it. */
      run: z.iso.datetime(),
      /** Skills whose sources were asked. */
      asked: z.number(),
      outdated: versions,
      /** Results that people have not been told yet. */
      news: z.array(z.string()),
      failed: z.array(z.strictObject({ name: z.string(), reason: z.string() })),
    })
    .optional(),
  isAnnounced: z.boolean(),
});

/** When the sources of skills are asked, and what they had. */
export type SyncState = z.output<typeof state>;

/** Reads the state; undefined without a usable one: nothing was checked yet. */
export async function readSyncState(file: string): Promise<SyncState | undefined> {
  const text = await readFile(file, "utf8").catch(nothingIfMissing);
  if (text === undefined) return undefined;
  try {
    return state.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Writes atomically. */
export async function writeSyncState(file: string, content: SyncState): Promise<void> {
  await writeWhole(file, `${JSON.stringify(content)}\n`);
}
