import { setImmediate as nextTurnOfLoop } from "node:timers/promises";

import { appliedMode, entryRemarks, linkFault, nameFault, nameRemarks } from "./judge-change.ts";
import { type EntryFacts, EntryReader, tooLarge } from "./entry-facts.ts";
import type { OpenedFolder } from "./opened-folder.ts";
import { visiblePath } from "../mounts/walk.ts";

/** More changes than this are not listed. */
const maxChanges = 20_000;
/** Entries looked at, changed or not; more is a flood. */
const maxEntries = 200_000;
/** Folders within folders; more is refused, so that no path gets too long for the tools of people. */
const maxDepth = 100;

/** A difference between the layer and the real folder, not yet judged by its history. */
export interface FoundChange {
  /** Below the mount, as bytes in `latin1`: names need not be text. */
  readonly key: string;
  /** The visible form. */
  readonly path: string;
  readonly before: EntryFacts | undefined;
  readonly after: EntryFacts | undefined;
  readonly remarks: readonly string[];
  readonly refused: string | undefined;
  /** True for an entry that the layer hides by a folder in its place, without a word about the entry itself. */
  readonly isHidden: boolean;
}

/** Contents of a layer compared with the real folder. */
export interface Comparison {
  readonly changes: readonly FoundChange[];
  readonly isCut: boolean;
  /** Keys of folders of the layer under which nothing of the real folder shows: new ones, and replaced ones. */
  readonly closed: ReadonlySet<string>;
}

interface Step {
  readonly layer: OpenedFolder;
  readonly real: OpenedFolder | undefined;
  readonly key: string;
  readonly depth: number;
  /** A reason that holds for all below it. */
  readonly refused: string | undefined;
}

/**
 * Lists the differences between a layer and the real folder below it, sorted by path. Reads both as hostile: no link is
 * followed, nothing is listed without bound. `open`: keys of folders of the layer that show what the real ones have.
 */
export async function compareLayer(
  layer: OpenedFolder,
  real: OpenedFolder,
  open: ReadonlySet<string>,
): Promise<Comparison> {
  const comparing = new Comparing(open, (key) => isLinkIn(layer, real, key));
  await comparing.walk({ layer, real, key: "", depth: 0, refused: undefined });
  return comparing.result();
}

class Comparing {
  readonly #open: ReadonlySet<string>;
  readonly #isLink: (path: string) => boolean;
  readonly #reader = new EntryReader();
  readonly #changes: FoundChange[] = [];
  readonly #closed = new Set<string>();
  #entries = 0;
  #isCut = false;

  constructor(open: ReadonlySet<string>, isLink: (path: string) => boolean) {
    this.#open = open;
    this.#isLink = isLink;
  }

  result(): Comparison {
    return { changes: this.#changes, isCut: this.#isCut, closed: this.#closed };
  }

  async walk(step: Step): Promise<void> {
    const { layer, real, key } = step;
    // Also within one that shows nothing of the real folder, or of which nobody can tell.
    const isClosed = key !== "" && !this.#open.has(key);
    if (isClosed) this.#closed.add(key);
    const own = layer.names(maxEntries);
    const theirs = isClosed && real !== undefined ? real.names(maxEntries) : [];
    const seen = new Set(own.map((name) => name.toString("latin1")));
    const hidden = theirs.filter((name) => !seen.has(name.toString("latin1")));
    const beside = [...own, ...(real?.names(maxEntries) ?? [])].map((name) => name.toString("utf8"));
    for (const name of [...own, ...hidden].toSorted((one, other) => Buffer.compare(one, other))) {
      if (!(await this.#goesOn())) return;
      const isHidden = !seen.has(name.toString("latin1"));
      if (isHidden) await this.#gone(step, name, true);
      else await this.#entry(step, name, beside);
    }
  }

  async #entry(step: Step, name: Buffer, beside: readonly string[]): Promise<void> {
    const { layer, real } = step;
    const key = keyOf(step.key, name);
    if (isRemovalMark(layer, name)) return this.#gone(step, name, false);
    const found = await this.#reader.read(layer, name, { show: true });
    const before = real && (await this.#reader.read(real, name, { show: true }));
    if (found === undefined) return;
    const after = { ...found, mode: appliedMode(found.mode, before?.mode) };
    const fault = this.#faultOf({ step, key, name, after, before });
    if (differs(before, after) || after.odd !== undefined) {
      const remarks = [...entryRemarks(after, before), ...(before ? [] : nameRemarks(name.toString("utf8"), beside))];
      this.#add({ key, before, after, remarks, refused: fault, isHidden: false });
    }
    if (after.entry === "folder") return this.#into(step, { name, key, before, refused: fault });
    if (before?.entry === "folder") await this.#goneBelow(step, name, key);
  }

  async #into(
    step: Step,
    {
      name,
      key,
      before,
      refused,
    }: { name: Buffer; key: string; before: EntryFacts | undefined; refused: string | undefined },
  ): Promise<void> {
    using inner = openIfPossible(step.layer, name);
    using below = before?.entry === "folder" ? openIfPossible(step.real, name) : undefined;
    if (!isReadable(inner) || (before?.entry === "folder" && !isReadable(below))) {
      const facts = step.layer.stat(name);
      if (facts) this.#add({ ...nothingKnown, key, before, refused: "is a folder that cannot be read" });
      return;
    }
    await this.walk({ layer: inner, real: below, key, depth: step.depth + 1, refused });
  }

  /** An entry of the real folder that the agent does not see anymore, and all below it. */
  async #gone(step: Step, name: Buffer, isHidden: boolean): Promise<void> {
    const key = keyOf(step.key, name);
    const before = step.real && (await this.#reader.read(step.real, name, { show: true }));
    if (before === undefined) return;
    const refused = step.refused ?? nameFault(name) ?? (before.odd === tooLarge ? undefined : before.odd);
    this.#add({ key, before, after: undefined, remarks: [], refused, isHidden });
    if (before.entry === "folder") await this.#goneBelow({ ...step, refused }, name, key, isHidden);
  }

  async #goneBelow(step: Step, name: Buffer, key: string, isHidden = false): Promise<void> {
    using inner = openIfPossible(step.real, name);
    if (!inner) return;
    for (const each of inner.names(maxEntries)) {
      if (!(await this.#goesOn())) return;
      await this.#gone({ ...step, real: inner, key, depth: step.depth + 1 }, each, isHidden);
    }
  }

  #faultOf({
    step,
    key,
    name,
    after,
    before,
  }: {
    readonly step: Step;
    readonly key: string;
    readonly name: Buffer;
    readonly after: EntryFacts;
    readonly before: EntryFacts | undefined;
  }): string | undefined {
    if (step.refused !== undefined) return step.refused;
    const fault = nameFault(name) ?? after.odd;
    if (fault !== undefined) return fault;
    if (before?.odd !== undefined && before.odd !== tooLarge) return before.odd;
    if (step.depth >= maxDepth) return "is nested too deeply";
    if (after.entry === "folder" && (after.mode & 0o500) !== 0o500) return "is a folder that cannot be read";
    if (after.entry !== "link") return undefined;
    return linkFault(Buffer.from(key, "latin1").toString("utf8"), after.link ?? "", this.#isLink);
  }

  #add(change: Omit<FoundChange, "path">): void {
    if (this.#changes.length >= maxChanges) this.#isCut = true;
    else this.#changes.push({ ...change, path: visiblePath(Buffer.from(change.key, "latin1")) });
  }

  /** False when there are too many entries. Lets others at work now and then. */
  async #goesOn(): Promise<boolean> {
    this.#entries += 1;
    if (this.#entries % 200 === 0) await nextTurnOfLoop();
    if (this.#entries > maxEntries) this.#isCut = true;
    return !this.#isCut;
  }
}

/** The kernel marks what is gone by a device with the number 0. */
function isRemovalMark(layer: OpenedFolder, name: Buffer): boolean {
  const facts = layer.stat(name);
  return facts?.isCharacterDevice() === true && facts.rdev === 0n;
}

function keyOf(folder: string, name: Buffer): string {
  const text = name.toString("latin1");
  return folder === "" ? text : `${folder}/${text}`;
}

const nothingKnown = { after: undefined, remarks: [], isHidden: false } as const;

function isReadable(folder: OpenedFolder | undefined): folder is OpenedFolder {
  try {
    return folder !== undefined && folder.names(1).length >= 0;
  } catch {
    return false;
  }
}

function openIfPossible(folder: OpenedFolder | undefined, name: Buffer): OpenedFolder | undefined {
  try {
    return folder?.folder(name);
  } catch {
    return undefined;
  }
}

/** Owner and time do not count: neither is applied. */
function differs(before: EntryFacts | undefined, after: EntryFacts): boolean {
  if (before?.entry !== after.entry) return true;
  if (after.entry === "link") return before.sha256 !== after.sha256;
  if (before.mode !== after.mode) return true;
  return after.entry === "file" && (before.sha256 === undefined || before.sha256 !== after.sha256);
}

/** Whether the agent sees a link at this path, or the real folder has one there. */
function isLinkIn(layer: OpenedFolder, real: OpenedFolder, path: string): boolean {
  return [layer, real].some((root) => kindAt(root, path.split("/")));
}

function kindAt(folder: OpenedFolder, [name = "", ...rest]: readonly string[]): boolean {
  const isLink = folder.stat(name)?.isSymbolicLink() === true;
  if (isLink || rest.length === 0) return isLink;
  using inner = folder.folder(name);
  return inner !== undefined && kindAt(inner, rest);
}
