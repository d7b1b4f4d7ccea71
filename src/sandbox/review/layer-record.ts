import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";

import * as z from "zod";

import { AppError } from "../../lib/app-error.ts";
import { writeWhole } from "../../lib/files/guarded-change.ts";
import { syncFolder } from "../../lib/files/sync-folder.ts";
import { parseJson } from "../../lib/text/parse-json.ts";

const afterEntry = z.strictObject({
  entry: z.enum(["file", "folder", "link"]),
  sha256: z.string().optional(),
  mode: z.number().int(),
  link: z.string().optional(),
});

const step = z.strictObject({
  /** Path below the mount, as bytes in `latin1`. */
  key: z.string(),
  /** State of the real entry before. */
  before: z.string(),
  /** Owner of what is put there. */
  uid: z.number().int(),
  gid: z.number().int(),
  /** Undefined: the entry is removed. */
  after: afterEntry.optional(),
});

const journal = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("apply"), id: z.string(), steps: z.array(step) }),
  z.strictObject({
    kind: z.literal("discard"),
    id: z.string(),
    /** `restored`: as it is in the real folder, for where removing it from the layer would show nothing. */
    steps: z.array(z.strictObject({ key: z.string(), restored: z.boolean() })),
  }),
  z.strictObject({ kind: z.literal("discard-all"), id: z.string() }),
]);

/** A change of the real folder that is to be made. */
export type ApplyStep = z.infer<typeof step>;
/** A decision that is being carried out; it is on the disk before the first change. */
export type ReviewJournal = z.infer<typeof journal>;

const record = z.strictObject({
  group: z.string(),
  target: z.string(),
  source: z.string(),
  device: z.string(),
  inode: z.string(),
  uid: z.number().int(),
  gid: z.number().int(),
  /** Last moment at which nothing but `bases` differed, milliseconds since 1970. */
  since: z.number(),
  /** States of real entries when changes over them were first seen, by key; see `ChangeHistory`. */
  bases: z.record(z.string(), z.string()),
});

/** Facts of a layer that outlive the host. */
export type LayerRecord = z.infer<typeof record>;

/** The folder of one layer, below `<home>/reviews/<group>/`. */
export class LayerHome {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Holds what the agent changed, in the kernel's form. */
  get layer(): string {
    return join(this.path, "layer");
  }

  /** The kernel's own, empty between mounts. */
  get work(): string {
    return join(this.path, "work");
  }

  async make(): Promise<void> {
    await mkdir(this.path, { recursive: true, mode: 0o700 });
  }

  async readRecord(): Promise<LayerRecord | undefined> {
    return this.#read("layer.json", record);
  }

  async writeRecord(facts: LayerRecord): Promise<void> {
    await writeWhole(join(this.path, "layer.json"), JSON.stringify(facts));
  }

  async readJournal(): Promise<ReviewJournal | undefined> {
    return this.#read("journal.json", journal);
  }

  /** On the disk when it resolves. */
  async writeJournal(entry: ReviewJournal): Promise<void> {
    await writeWhole(join(this.path, "journal.json"), JSON.stringify(entry));
    await syncFolder(this.path);
  }

  async removeJournal(): Promise<void> {
    await rm(join(this.path, "journal.json"), { force: true });
    await syncFolder(this.path);
  }

  async #read<Value>(name: string, schema: z.ZodType<Value>): Promise<Value | undefined> {
    const path = join(this.path, name);
    const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    if (text === undefined) return undefined;
    const parsed = schema.safeParse(parseJson(text));
    if (parsed.success) return parsed.data;
    throw new AppError("conflict", `${path} is not valid, so the changes in this layer cannot be decided on.`, {
      fix: "Put it back from a backup of the home.",
    });
  }
}
