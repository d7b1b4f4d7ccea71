import { readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";

import type { Actor } from "../../domain/people/actor.ts";
import { addCounts, type ErasedCounts, type ErasureView, type Erasing } from "../../domain/erasure.ts";
import { groupOfFolder } from "../../domain/chats/group.ts";
import { type MemberId, memberKey } from "../../domain/people/person.ts";
import type { Publish } from "../../domain/events/event.ts";
import { AppError, nothingIfMissing } from "../../lib/app-error.ts";
import { HostileFolder } from "../../lib/files/open-hostile-file.ts";
import { hasWholeWord } from "../../lib/text/whole-words.ts";
import { WordTraces } from "../../lib/text/word-traces.ts";
import type { ErasureStore } from "../../stores/contract/erasure-store.ts";
import type { EventStore } from "../../stores/contract/event-store.ts";
import { withoutWords } from "./event-words.ts";
import { type IsGone, hasGoneLine, overwriteLines } from "./log-lines.ts";
import { collectOwnWords, type OwnWords } from "./own-words.ts";
import { rewriteStep } from "./rewrite-step.ts";
import { searchBytes } from "./bytes/search-bytes.ts";
import { searchGroupFolder } from "./search-files.ts";

/**
 * The files of memories, as far as an erasure has to know them, each by the name of a group, of an agent's folder, or
 * of notes for all.
 */
export interface ErasableMemories {
  names(): Promise<readonly string[]>;
  /** True for the global memory, written by main groups. */
  readonly isForAll: (name: string) => boolean;
  /** Adds what the memory knows that they said. False: nothing of theirs is in it. */
  noteSaid(name: string, people: readonly MemberId[], traces: WordTraces): Promise<boolean>;
  /** Takes out what others said. */
  discountSaid(name: string, people: readonly MemberId[], traces: WordTraces): Promise<void>;
  /** Gives how many memories are gone. */
  erase(name: string, erasing: MemoryErasing): Promise<number>;
  /** Removes copies of damaged memories, as nobody can tell whose words they hold. Returns their number. */
  removeDamaged(isOne: (name: string) => boolean): Promise<number>;
}

type MemoryErasing = Erasing & { readonly messageIds: ReadonlySet<string> };

export interface ErasureOptions {
  readonly store: {
    readonly erasure: ErasureStore;
    readonly events: Pick<EventStore, "rewrite">;
    readonly outbox: {
      withFiles(since: number): Promise<readonly { readonly file?: { readonly path: string } | undefined }[]>;
    };
  };
  readonly memories: ErasableMemories;
  readonly paths: {
    readonly root: string;
    readonly groups: string;
    readonly groupSkills: string;
    readonly sessions: string;
    readonly logs: string;
    readonly blobs: string;
    readonly outgoing: string;
    /** Templates of groups' folders. */
    readonly templates: readonly string[];
  };
  /** All ids of the person who has this one. */
  readonly idsOf: (who: MemberId) => readonly MemberId[];
  /** Digest of a person, for those who know the id. */
  readonly digest: (key: string) => string;
  readonly publish: Publish<"person.erasing" | "person.erased" | "container-output.pruned">;
  readonly now: () => number;
  /** Pauses these groups and drops their in-memory words. Undefined when nothing runs. */
  readonly quiet?: ((groups: readonly string[]) => Promise<AsyncDisposable>) | undefined;
}

interface Place {
  readonly group: string;
  readonly words: OwnWords;
  readonly erasing: MemoryErasing;
}

/** Erases a person's words from a home, or reports what that would be. */
export class PersonEraser {
  readonly #options: ErasureOptions;
  #isErasing = false;

  constructor(options: ErasureOptions) {
    this.#options = options;
  }

  /** Counts the person's data without changing it. Rejects with `not_found` for somebody who is not known. */
  async look(who: MemberId): Promise<ErasureView> {
    const people = this.#options.idsOf(who);
    const { groups, counts } = await this.#outline(people);
    return { ids: people.map(memberKey), groups, erased: counts, files: [], left: [] };
  }

  /**
   * All of it, from the beginning also where an earlier one was cut off. Rejects with `conflict` while turns of theirs
   * have not ended.
   */
  async erase(who: MemberId, actor: Actor): Promise<ErasureView> {
    if (this.#isErasing)
      throw new AppError("conflict", "Somebody else is being forgotten at this moment.", {
        fix: "try again when that is done",
      });
    this.#isErasing = true;
    try {
      return await this.#erase(who, actor);
    } finally {
      this.#isErasing = false;
    }
  }

  async #erase(who: MemberId, actor: Actor): Promise<ErasureView> {
    const { store, publish, digest, now } = this.#options;
    const people = this.#options.idsOf(who);
    const outline = await this.#outline(people);
    const { groups } = outline;
    await using stack = new AsyncDisposableStack();
    stack.use((await this.#options.quiet?.(groups)) ?? null);
    await this.#requireEndedTurns(groups);
    // The same by whichever id.
    const name = digest(people.map(memberKey).toSorted()[0] ?? memberKey(who));
    await publish({ type: "person.erasing", actor, data: { digest: name, ids: people.length, groups: groups.length } });
    await store.erasure.begin(name, now());
    const places = await Promise.all(groups.map((group) => this.#placeOf(group, people, outline.names)));
    const made: ErasedCounts[] = [];
    for (const place of places) made.push(await this.#eraseMade(place));
    made.push({ events: await this.#events(places) }, { logs: await this.#logs(places, actor) });
    // What they said themselves is last, because all else is told by it.
    made.push(await this.#memories(places, { people, names: outline.names }));
    made.push(await store.erasure.own(people));
    await store.erasure.compact();
    const view = {
      ids: people.map(memberKey),
      groups,
      erased: addCounts(...made),
      files: await this.#groupFiles(places),
      left: await searchBytes({
        root: this.#options.paths.root,
        except: [this.#options.paths.groups, this.#options.paths.groupSkills],
        texts: places.flatMap(({ words }) => words.samples),
      }),
    };
    await store.erasure.ended(name, now());
    const { erased, files, left } = view;
    await publish({
      type: "person.erased",
      actor,
      data: { digest: name, erased, files: files.length, left: left.length },
    });
    return view;
  }

  /** Groups by what the store has, and by what memories hold. */
  async #outline(people: readonly MemberId[]) {
    const { store, memories } = this.#options;
    const outline = await store.erasure.outline(people);
    const groups = new Set(outline.groups);
    let isNoted = false;
    for (const name of await memories.names()) {
      const group = groupOfFolder(name);
      if (groups.has(group) || !(await memories.noteSaid(name, people, new WordTraces()))) continue;
      if (memories.isForAll(name)) isNoted = true;
      else groups.add(group);
    }
    if (isNoted || groups.size > 0) return { ...outline, groups: [...groups].toSorted() };
    throw new AppError("not_found", `Nothing of ${people.map(memberKey).join(", ")} is in this home.`, {
      fix: "`crabpot people list` shows the ids of those who have written",
    });
  }

  /** Requires that turns have ended: a running one would continue with erased words. */
  async #requireEndedTurns(groups: readonly string[]): Promise<void> {
    const [first] = await this.#options.store.erasure.unfinished(groups);
    if (!first) return;
    throw new AppError("conflict", `A turn of group ${first.group} has not ended: ${first.turn}.`, {
      fix: "let it end (answer what it asks, or /stop in the chat), with a running host, and try again",
    });
  }

  async #placeOf(group: string, people: readonly MemberId[], names: readonly string[]): Promise<Place> {
    const { store, memories } = this.#options;
    const words = await collectOwnWords(store.erasure, { group, people }, async (traces) => {
      const known = (await memories.names()).filter((name) => groupOfFolder(name) === group);
      let isKnown = false;
      for (const name of known) isKnown = (await memories.noteSaid(name, people, traces)) || isKnown;
      // Only when all is noted: what another agent has heard from others is not theirs either.
      if (isKnown) for (const name of known) await memories.discountSaid(name, people, traces);
    });
    const holds = (text: string): boolean => words.traces.isIn(text);
    return { group, words, erasing: { people, names, holds, messageIds: words.messageIds } };
  }

  async #eraseMade({ group, words, erasing }: Place): Promise<ErasedCounts> {
    const { store } = this.#options;
    const made = await store.erasure.made({
      ...erasing,
      group,
      rewrite: (body, of) => rewriteStep(body, { ...erasing, ...of }),
    });
    const copies = (await this.#blobs(made.blobs)) + (await this.#outgoing(made.outgoing));
    return addCounts(made.counts, { files: copies + (await this.#files(group, words)) });
  }

  /** Those of a group, of its other agents, and what main groups noted for all. */
  async #memories(places: readonly Place[], who: Pick<Erasing, "people" | "names">): Promise<ErasedCounts> {
    const { memories } = this.#options;
    const forAll: MemoryErasing = {
      ...who,
      holds: (text) => places.some(({ erasing }) => erasing.holds(text)),
      messageIds: new Set(places.flatMap(({ erasing }) => [...erasing.messageIds])),
    };
    const erasingOf = (name: string): MemoryErasing | undefined =>
      memories.isForAll(name) ? forAll : places.find(({ group }) => group === groupOfFolder(name))?.erasing;
    const files = await memories.removeDamaged((name) => erasingOf(name) !== undefined);
    let gone = 0;
    for (const name of await memories.names()) {
      const erasing = erasingOf(name);
      if (erasing) gone += await memories.erase(name, erasing);
    }
    return { memories: gone, files };
  }

  /** Files that they sent, where they were put; the agents may have moved or copied them. */
  async #files(group: string, words: OwnWords): Promise<number> {
    let removed = 0;
    for (const name of await foldersOf(this.#options.paths.groups, group))
      removed += await removeFromInbox(join(this.#options.paths.groups, name), words);
    return removed;
  }

  async #blobs(sha256s: readonly string[]): Promise<number> {
    const forgotten = await this.#options.store.erasure.forgetBlobs(sha256s);
    for (const sha256 of forgotten)
      await rm(join(this.#options.paths.blobs, sha256.slice(0, 2), sha256), { force: true });
    return forgotten.length;
  }

  async #outgoing(paths: readonly string[]): Promise<number> {
    const { store, paths: home } = this.#options;
    if (paths.length === 0) return 0;
    const used = new Set((await store.outbox.withFiles(0)).map(({ file }) => file?.path));
    const gone = [...new Set(paths)].filter((path) => !used.has(path) && path.startsWith(`${home.outgoing}/`));
    for (const path of gone) await rm(path, { force: true });
    return gone.length;
  }

  /** Erases words in events: only a command's argument and an agent's error text hold any. */
  async #events(places: readonly Place[]): Promise<number> {
    const byGroup = new Map(places.map((place) => [place.group, place]));
    let changed = 0;
    for (let after: number | undefined = 0; after !== undefined;) {
      const window: { changed: number; next: number | undefined } = await this.#options.store.events.rewrite(
        after,
        (event) => {
          const place = byGroup.get(event.group ?? "");
          return place && withoutWords(event, place.erasing);
        },
      );
      changed += window.changed;
      after = window.next;
    }
    return changed;
  }

  /** The host's log, and those of the groups' sessions. A full one is known by its digest: it goes as a whole. */
  async #logs(places: readonly Place[], actor: Actor): Promise<number> {
    const { paths, store } = this.#options;
    const names = places.flatMap(({ erasing }) => erasing.names);
    const isSaid = (text: string): boolean => places.some(({ erasing }) => erasing.holds(text));
    const isRepeated = (text: string): boolean => places.some(({ words }) => words.traces.isRepeatedIn(text));
    const ofHost: IsGone = (text, key) =>
      (key === "msg" || key === "time" || key === "level" ? isRepeated(text) : isSaid(text)) && key !== "group";
    const ofSession: IsGone = (text, key, line) =>
      key === "text" && (line["source"] === "host" ? isRepeated(text) || hasWholeWord(text, names) : isSaid(text));
    let changed = 0;
    for (const name of await readdir(paths.logs)) changed += await overwriteLines(join(paths.logs, name), ofHost);
    for (const session of await store.erasure.sessions(places.map(({ group }) => group)))
      changed += await this.#sessionLogs({ session, actor }, ofSession);
    return changed;
  }

  async #sessionLogs(
    { session, actor }: { readonly session: string; readonly actor: Actor },
    isGone: IsGone,
  ): Promise<number> {
    const folder = join(this.#options.paths.sessions, session);
    const names = await readdir(folder).catch(() => []);
    let changed = 0;
    for (const name of names.filter((each) => each.startsWith("log.jsonl"))) {
      const path = join(folder, name);
      if (name === "log.jsonl") changed += await overwriteLines(path, isGone);
      else if (await hasGoneLine(path, isGone)) {
        await this.#options.publish({
          type: "container-output.pruned",
          session,
          actor,
          data: { file: name, bytes: 0 },
        });
        await rm(path, { force: true });
        changed += 1;
      }
    }
    return changed;
  }

  async #groupFiles(places: readonly Place[]): Promise<string[]> {
    const found: string[] = [];
    const { groups, groupSkills, templates } = this.#options.paths;
    for (const { group, words, erasing } of places) {
      const isSuspicious = (text: string): boolean =>
        words.traces.isIn(text) ||
        hasWholeWord(text, erasing.names) ||
        words.samples.some((sample) => text.includes(sample));
      for (const root of [groups, groupSkills])
        for (const name of await foldersOf(root, group)) {
          const files = await searchGroupFolder(join(root, name), { isSuspicious, templates });
          found.push(...files.map((file) => join(basename(root), name, file)));
        }
    }
    return found;
  }
}

/** Names of the folders in `root` that are of this group: its own, and those of its other agents. */
async function foldersOf(root: string, group: string): Promise<string[]> {
  const names = (await readdir(root).catch(nothingIfMissing)) ?? [];
  return names.filter((name) => groupOfFolder(name) === group).toSorted();
}

async function removeFromInbox(path: string, { files }: OwnWords): Promise<number> {
  const folder = await HostileFolder.open(path).catch(() => undefined);
  if (!folder) return 0;
  await using opened = folder;
  await using inbox = await opened.openFolder("inbox");
  if (!inbox) return 0;
  let removed = 0;
  for (const { file } of files) {
    const name = /^\/workspace\/group\/inbox\/([^/]+)$/.exec(file?.path ?? "")?.[1];
    if (name === undefined || !(await inbox.stat(name))) continue;
    if (await inbox.remove(name)) removed += 1;
  }
  return removed;
}
