import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, rename } from "node:fs/promises";
import { setTimeout as timeout } from "node:timers/promises";
import { basename, dirname, join } from "node:path";

import { applyStep } from "./apply-step.ts";
import { type KnownChange, withHistory, clockLagMs } from "./change-history.ts";
import { compareLayer, type Comparison } from "./compare-layer.ts";
import { stateOf } from "./entry-facts.ts";
import { findLayerFolders, volumeOptions } from "./hidden-folders.ts";
import { LayerGate } from "./layer-gate.ts";
import { type ApplyStep, type LayerHome, type LayerRecord, type ReviewJournal } from "./layer-record.ts";
import { layerTrace, mergedFolders } from "./layer-trace.ts";
import { type BeforeChange, OpenedFolder } from "./opened-folder.ts";
import { presentChange, presentDiff } from "./present-diff.ts";
import { droppedStart, removeApplied, restoreEntry } from "./prune-layer.ts";
import type { ApplyResult, DiscardResult, ReviewDecision, ReviewDiff, ReviewLayer } from "./review-layer.ts";
import { inOrderOfApplying, selectChanges, withFolders, withGoneFolders } from "./select-changes.ts";
import { AppError } from "../../lib/app-error.ts";
import type { ContainerEngine } from "../engine/engine.ts";
import type { ImageFacts } from "../launch/spec.ts";
import { containerLabels } from "../launch/spec.ts";
import type { SandboxSize } from "../profile/profile.ts";

/** Everything outside the layer that it needs. */
export interface LayerSurroundings {
  readonly engine: ContainerEngine;
  readonly instance: string;
  readonly image: (group: string | undefined) => Promise<ImageFacts>;
  readonly sandbox: () => SandboxSize;
  /** Ends the containers of a group; false when a turn is at work in one. */
  readonly endContainers: (group: string, reason: string) => Promise<boolean>;
  /** Told the names of containers that look at layers, when they begin and end. */
  readonly looking: Set<string>;
  readonly beforeChange?: BeforeChange | undefined;
}

/** A look at the layer, for a decision. */
interface Look {
  readonly diff: ReviewDiff;
  readonly changes: readonly KnownChange[];
  readonly closed: Comparison["closed"];
}

/** A layer over one mount. Volume, layer and real folder are only put together by the engine. */
export class MountLayer implements ReviewLayer {
  readonly gate = new LayerGate();
  readonly #home: LayerHome;
  readonly #around: LayerSurroundings;
  #record: LayerRecord;
  /** Whether folders of the layer show what is below, by identity: that never changes. */
  readonly #isOpen = new Map<string, boolean>();
  #looking: Promise<unknown> = Promise.resolve();
  #trace: string | undefined;

  constructor(home: LayerHome, record: LayerRecord, around: LayerSurroundings) {
    this.#home = home;
    this.#record = record;
    this.#around = around;
  }

  get group(): string {
    return this.#record.group;
  }

  get target(): string {
    return this.#record.target;
  }

  get source(): string {
    return this.#record.source;
  }

  /** Name of the engine's volume: another one for other folders. */
  get volume(): string {
    const facts = JSON.stringify([this.group, this.target, this.options]);
    const hash = createHash("sha256").update(facts).digest("hex").slice(0, 32);
    return `crabpot-${this.#around.instance.slice(0, 8)}-review-${hash}`;
  }

  get options(): Readonly<Record<string, string>> {
    const { layer, work } = this.#home;
    return volumeOptions({ real: this.source, layer, work });
  }

  /** Makes the volume, if there is none. Throws `engine_refused` when the one that is there is another. */
  async openVolume(): Promise<void> {
    const { engine, instance } = this.#around;
    await engine.createVolume(this.volume, this.options, { [containerLabels.instance]: instance });
    const fault = await this.volumeFault();
    if (fault !== undefined) throw new AppError("engine_refused", fault);
  }

  /** Undefined, or a sentence that says how the engine's volume differs from what it was made as. */
  async volumeFault(): Promise<string | undefined> {
    const found = await this.#around.engine.volume(this.volume);
    const wanted = Object.entries(this.options);
    const isSame =
      found?.driver === "local" &&
      Object.keys(found.options).length === wanted.length &&
      wanted.every(([name, value]) => found.options[name] === value);
    return isSame ? undefined : `The volume ${this.volume} of the mount ${this.target} is not what it was made as.`;
  }

  async diff(signal?: AbortSignal): Promise<ReviewDiff> {
    using _ = await this.gate.enter();
    return (await this.#inTurn(() => this.#look(signal))).diff;
  }

  /** See `ReviewLayers.mayHaveChanged`. */
  async mayHaveChanged(): Promise<boolean> {
    using _ = await this.gate.enter();
    return await this.#inTurn(async () => {
      const now = Date.now();
      const trace = await layerTrace(this.#home.layer);
      if (trace === undefined || trace !== this.#trace) return true;
      this.#record = { ...this.#record, since: Math.max(this.#record.since, now) };
      return false;
    });
  }

  async apply({ paths, digest, record }: ReviewDecision): Promise<ApplyResult> {
    return this.gate.decide(async () => {
      const look = await this.#readyFor({ paths, digest });
      const chosen = withFolders(selectChanges(look.changes, paths), look.changes);
      const kept = new Map<string, string>();
      const possible = chosen.filter((change) => {
        const reason = change.refused ?? (change.isConflict ? "has changed meanwhile" : undefined);
        if (reason !== undefined) kept.set(change.key, reason);
        return reason === undefined;
      });
      await record(possible.map(presentChange));
      const { uid, gid } = this.#record;
      const steps = inOrderOfApplying(possible).map(({ key, before, after }): ApplyStep => {
        const { entry, sha256, mode, link } = after ?? { entry: undefined, mode: 0 };
        const owner = { uid: before?.uid ?? uid, gid: before?.gid ?? gid };
        const put = entry && { entry, sha256, mode, link };
        return { key, before: stateOf(before), ...owner, ...(put && { after: put }) };
      });
      const journal = { kind: "apply", id: randomUUID(), steps } as const;
      if (steps.length > 0) {
        await this.#home.writeJournal(journal);
        for (const [key, reason] of await this.#carryOut(journal)) kept.set(key, reason);
      }
      const applied = possible.filter(({ key }) => !kept.has(key)).map(presentChange);
      const reasons = chosen.flatMap(({ key, path }) => {
        const reason = kept.get(key);
        return reason === undefined ? [] : [{ path, reason }];
      });
      return { applied, kept: reasons };
    });
  }

  async discard({ paths, digest, record }: ReviewDecision): Promise<DiscardResult> {
    return this.gate.decide(async () => {
      const look = await this.#readyFor({ paths, digest });
      const chosen = withGoneFolders(selectChanges(look.changes, paths), look.changes);
      const discarded = chosen.map(presentChange);
      await record(discarded);
      const id = randomUUID();
      const isAll = chosen.length === look.changes.length;
      const keys = new Set(chosen.map(({ key }) => key));
      const steps = chosen.map(({ key, before }) => ({
        key,
        restored: before !== undefined && isUnder(key, look.closed, keys),
      }));
      const journal: ReviewJournal = isAll ? { kind: "discard-all", id } : { kind: "discard", id, steps };
      await this.#home.writeJournal(journal);
      await this.#carryOut(journal);
      return { discarded };
    });
  }

  /** Finishes a decision in whose middle the host died. To be called before any container gets the layer. */
  async finish(): Promise<void> {
    await this.gate.decide(async () => {
      const journal = await this.#home.readJournal();
      if (journal !== undefined) await this.#carryOut(journal);
      await this.#removeDropped();
    });
  }

  /** Removes it with its volume; false when something in it is undecided, or a container has it. */
  async remove(): Promise<boolean> {
    return this.gate.decide(async () => {
      const { diff } = await this.#inTurn(() => this.#look());
      if (diff.changes.length > 0 || diff.cut) return false;
      if (!(await this.#around.engine.removeVolume(this.volume))) return false;
      using group = OpenedFolder.open(dirname(this.#home.path));
      group.removeAll(basename(this.#home.path));
      return true;
    });
  }

  /** Ends the containers, makes sure that the engine has unmounted the layer, and looks at it. */
  async #readyFor({ paths, digest }: Pick<ReviewDecision, "paths" | "digest">): Promise<Look> {
    const { engine, endContainers } = this.#around;
    const isEnded = await endContainers(this.group, `changes in ${this.target} are decided on`);
    if (!isEnded || !(await engine.removeVolume(this.volume))) {
      throw new AppError("conflict", `A container of ${this.group} is at work in ${this.target}.`, {
        fix: "Try again when its turn has ended.",
        passing: true,
      });
    }
    const look = await this.#inTurn(() => this.#look());
    await engine.removeVolume(this.volume);
    if (look.diff.digest !== digest) {
      throw new AppError(
        "conflict",
        `The changes in ${this.target} are not those that were shown: look at them again.`,
      );
    }
    if (look.diff.cut && paths === undefined) {
      throw new AppError("conflict", `There are more changes in ${this.target} than can be shown.`, {
        fix: "Name the paths of changes that were shown.",
      });
    }
    return look;
  }

  /** Returns what was left undone, by key, with reasons. May be repeated after a death. */
  async #carryOut(journal: ReviewJournal): Promise<ReadonlyMap<string, string>> {
    const kept = new Map<string, string>();
    // Where the last life died between an old layer and a new one, there is none.
    await this.makeLayer();
    if (journal.kind === "apply") {
      using layer = this.#openLayer();
      using real = this.#openReal();
      for (const step of journal.steps) {
        const reason = await applyStep(step, { layer, real, id: journal.id });
        if (reason !== undefined) kept.set(step.key, reason);
      }
    } else if (journal.kind === "discard") {
      using layer = this.#openLayer();
      using real = this.#openReal();
      for (const step of journal.steps) restoreEntry(step, { layer, real, id: journal.id });
    } else {
      await this.#renew();
    }
    await this.#tidy(journal, kept);
    return kept;
  }

  /** Takes what is the same on both sides out of the layer; one without changes begins anew. */
  async #tidy(journal: ReviewJournal, kept: ReadonlyMap<string, string>): Promise<void> {
    await this.#saveRecord({ ...this.#record, since: await afterNow() });
    if (journal.kind !== "discard-all") {
      const { changes, closed, diff } = await this.#inTurn(() => this.#look());
      const left = changes.map(({ key }) => key);
      if (left.length === 0 && !diff.cut) await this.#renew();
      else if (journal.kind === "apply") {
        using layer = this.#openLayer();
        const done = journal.steps.map(({ key }) => key).filter((key) => !kept.has(key));
        using dropped = OpenedFolder.open(this.#home.path, this.#around.beforeChange);
        removeApplied(layer, done, { left, closed, dropped });
      }
      await this.#around.engine.removeVolume(this.volume);
    }
    await this.#home.removeJournal();
    await this.#removeDropped();
  }

  async #look(signal?: AbortSignal): Promise<Look> {
    const begun = Date.now();
    const trace = await layerTrace(this.#home.layer);
    using layer = this.#openLayer();
    using real = this.#openReal();
    const open = await this.#openFolders(layer, real, signal);
    const compared = await compareLayer(layer, real, open);
    const { changes, bases } = withHistory(compared.changes, this.#record);
    const isSeen = trace !== undefined && trace === (await layerTrace(this.#home.layer));
    this.#trace = isSeen ? trace : undefined;
    await this.#saveRecord({ ...this.#record, bases, since: Math.max(this.#record.since, begun) });
    return { changes, closed: compared.closed, diff: presentDiff(changes, compared.isCut) };
  }

  async #openFolders(layer: OpenedFolder, real: OpenedFolder, signal?: AbortSignal): Promise<ReadonlySet<string>> {
    const folders = mergedFolders(layer, real);
    if (folders.some(({ identity }) => !this.#isOpen.has(identity))) {
      const { engine, image, sandbox, instance, looking } = this.#around;
      await this.openVolume();
      const { uid, gid } = this.#record;
      const wish = { engine, instance, looking, group: this.group, user: { uid, gid }, volume: this.volume };
      const more = { image: await image(this.group), sandbox: sandbox(), layer: this.#home.layer, real: this.source };
      const found = await findLayerFolders({ ...wish, ...more }, signal);
      for (const { key, identity } of folders) {
        if (found.open.has(key)) this.#isOpen.set(identity, true);
        if (found.hiding.has(key)) this.#isOpen.set(identity, false);
      }
    }
    return new Set(folders.filter(({ identity }) => this.#isOpen.get(identity) === true).map(({ key }) => key));
  }

  #openLayer(): OpenedFolder {
    return OpenedFolder.open(this.#home.layer, this.#around.beforeChange);
  }

  #openReal(): OpenedFolder {
    const folder = OpenedFolder.open(this.source, this.#around.beforeChange);
    const { dev, ino } = folder.facts;
    if (String(dev) === this.#record.device && String(ino) === this.#record.inode) return folder;
    folder[Symbol.dispose]();
    throw new AppError("conflict", `${this.source} is another folder than the one that was changed.`);
  }

  /** Puts an empty layer in the place of this one. */
  async #renew(): Promise<void> {
    const { layer, path } = this.#home;
    this.#around.beforeChange?.("drop");
    await rename(layer, join(path, `${droppedStart}${randomUUID()}`)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
    });
    this.#around.beforeChange?.("renew");
    await this.makeLayer();
    this.#trace = undefined;
    await this.#saveRecord({ ...this.#record, bases: {}, since: await afterNow() });
  }

  /** Makes the folders of the layer, if they are missing: the layer with owner and bits of the real folder. */
  async makeLayer(): Promise<void> {
    const { work, path } = this.#home;
    await mkdir(work, { recursive: true, mode: 0o700 });
    using parent = OpenedFolder.open(path);
    if (parent.stat("layer") !== undefined) return;
    using real = this.#openReal();
    const { uid, gid, mode } = real.facts;
    parent.removeAll("layer.new");
    parent.makeFolder("layer.new", { uid: Number(uid), gid: Number(gid), mode: Number(mode & 0o777n) });
    parent.rename("layer.new", "layer");
  }

  async #removeDropped(): Promise<void> {
    using parent = OpenedFolder.open(this.#home.path, this.#around.beforeChange);
    for (const name of await readdir(this.#home.path)) if (name.startsWith(droppedStart)) parent.removeAll(name);
  }

  async #saveRecord(record: LayerRecord): Promise<void> {
    this.#around.beforeChange?.("record");
    this.#record = record;
    await this.#home.writeRecord(record);
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#looking.then(work);
    this.#looking = result.catch(() => undefined);
    return result;
  }
}

/** A moment after which a change of a file is surely younger than all that was done until now. */
async function afterNow(): Promise<number> {
  await timeout(2 * clockLagMs);
  return Date.now();
}

/** Whether an entry lies in a folder that shows nothing of the real one, and which stays. */
function isUnder(key: string, closed: ReadonlySet<string>, going: ReadonlySet<string>): boolean {
  const names = key.split("/");
  return names.slice(0, -1).some((_, index) => {
    const folder = names.slice(0, index + 1).join("/");
    return closed.has(folder) && !going.has(folder);
  });
}
