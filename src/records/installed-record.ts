import { readFile } from "node:fs/promises";

import type { Logger } from "pino";
import * as z from "zod";

import type { NewEvent, Publish } from "../domain/events/event.ts";
import { nothingIfMissing, toError } from "../lib/app-error.ts";
import { writeWhole } from "../lib/files/guarded-change.ts";

const facts = z.strictObject({
  sha256: z.string(),
  version: z.string().optional(),
  package: z.string().optional(),
  integrity: z.string().optional(),
});
const notes = z.record(z.enum(["plugin", "skill", "mcp"]), z.record(z.string(), facts));

type Kind = keyof z.output<typeof notes>;
/** Facts about something installed. */
export type InstalledFacts = z.output<typeof facts>;
type Found = Readonly<Record<string, InstalledFacts>>;

interface InstalledRecordOptions {
  /** `<home>/installed.json`: what was put on record. */
  readonly file: string;
  readonly publish: Publish<"mcp.installed" | "installed.changed">;
  readonly logger: Pick<Logger, "error">;
}

const kinds = ["plugin", "skill", "mcp"] as const;
const emptyNotes: Partial<Record<Kind, Found>> = {};

/** Puts on record what was installed or removed, also while no host ran. */
export class InstalledRecord implements AsyncDisposable {
  readonly #options: InstalledRecordOptions;
  /** Readers of what is installed now. */
  readonly #readers = new Map<Kind, () => Promise<Found>>();
  /** The last look: one after another, so that nothing is told twice. */
  #look: Promise<void> = Promise.resolve();

  constructor(options: InstalledRecordOptions) {
    this.#options = options;
  }

  /** Looks at things of this kind from now on. A reader that rejects changes nothing. */
  follow(kind: Kind, read: () => Promise<Found>): void {
    this.#readers.set(kind, read);
  }

  /** Records changes since the last look. Never rejects. Killed before it has noted them, it records them again. */
  look(): Promise<void> {
    this.#look = this.#look.then(() =>
      this.#note().catch((error: unknown) => {
        this.#options.logger.error({ err: toError(error) }, "what is installed could not be put on record");
      }),
    );
    return this.#look;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#look;
  }

  async #note(): Promise<void> {
    const { file } = this.#options;
    const text = await readFile(file, "utf8").catch(nothingIfMissing);
    const before = notes.safeParse(text === undefined ? {} : JSON.parse(text)).data ?? emptyNotes;
    const now: Partial<Record<Kind, Found>> = {};
    let isChanged = false;
    for (const kind of kinds) {
      // Others say what cannot be read.
      const read = this.#readers.get(kind) ?? (async () => before[kind]);
      const found = (await read().catch(() => before[kind])) ?? {};
      now[kind] = found;
      if (await this.#tell(kind, before[kind] ?? {}, found)) isChanged = true;
    }
    if (isChanged) await writeWhole(file, `${JSON.stringify(now)}\n`);
  }

  async #tell(kind: Kind, before: Found, now: Found): Promise<boolean> {
    const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
    const changed = names.filter((name) => ofName(before, name)?.sha256 !== ofName(now, name)?.sha256);
    for (const name of changed)
      await this.#options.publish(eventOf({ kind, name, old: ofName(before, name), found: ofName(now, name) }));
    return changed.length > 0;
  }
}

function eventOf({
  kind,
  name,
  old,
  found,
}: {
  readonly kind: Kind;
  readonly name: string;
  readonly old: InstalledFacts | undefined;
  readonly found: InstalledFacts | undefined;
}): NewEvent<"mcp.installed" | "installed.changed"> {
  if (!found) {
    const data = { kind, name, change: "removed" as const, version: old?.version, sha256: old?.sha256 ?? "" };
    return { type: "installed.changed", actor: "host", data };
  }
  const { version, sha256, integrity, package: named = "" } = found;
  if (kind === "mcp") {
    const data = { server: name, package: named, version: version ?? "", integrity, sha256 };
    return { type: "mcp.installed", actor: "host", data };
  }
  const data = { kind, name, change: old ? ("changed" as const) : ("added" as const), version, sha256 };
  return { type: "installed.changed", actor: "host", data };
}

function ofName(found: Found, name: string): InstalledFacts | undefined {
  return Object.hasOwn(found, name) ? found[name] : undefined;
}
