import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";

import type { Logger } from "pino";

import { groupOfFolder, type InstructionsState } from "../../domain/chats/group.ts";
import { instructionsFile } from "../../domain/rights/protected-file.ts";
import type { InstructionText, ProtectedFile, ProtectedFileName } from "../../domain/rights/protected-file.ts";
import type { Origin } from "../../domain/people/origin.ts";
import { sourced } from "../../domain/rights/sourced.ts";
import type { Actor } from "../../domain/people/actor.ts";
import type { Publish } from "../../domain/events/event.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { HostileRefusal } from "../../lib/files/open-hostile-file.ts";
import type { Store } from "../../stores/contract/store.ts";
import { ProtectedFiles } from "./protected-files.ts";
import type { InstructionsChange, RefusedChange } from "./protected-files.ts";
import { ownCommand } from "../../lib/process/own-command.ts";

interface InstructionsOptions {
  /** Folders of the groups, and of the host's copies in use. */
  readonly folders: { readonly groups: string; readonly copies: string };
  readonly hostUid: number;
  readonly store: Pick<Store["groups"], "folder" | "noteInstructions">;
  /** The newest events of this type and group. */
  readonly changes: Pick<Store["events"], "before">;
  readonly publish: Publish<"instructions.changed" | "file.refused">;
  /** Says it to the operator. */
  readonly tell: (text: string) => void;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly logger: Logger;
}

/** Between two notices in a chat about one group: its agent may be able to cause as many as it likes. */
const noticeMs = 3_600_000;

/** Texts in use, by file. */
type Texts = ReadonlyMap<ProtectedFileName, string>;

/**
 * The AGENTS.md of groups, and what else says who their agents are. Only the operator can change them; they outlive
 * `/new` and restarts: a change is put on record when it is first used, once, and one that is not the operator's is put
 * on record and not used.
 */
export class Instructions {
  readonly #options: InstructionsOptions;
  readonly #files: ProtectedFiles;
  /** Texts last used by each group; while equal, nothing is computed. */
  readonly #used = new Map<string, Texts>();
  /** Origins of these texts, by group. */
  readonly #origins = new Map<string, ReadonlyMap<ProtectedFileName, readonly Origin[]>>();
  /** When the operator was last told about a group, by the monotonic clock. */
  readonly #told = new Map<string, number>();

  constructor(options: InstructionsOptions) {
    const { folders, hostUid, store } = options;
    this.#options = options;
    this.#files = new ProtectedFiles({
      ...folders,
      hostUid,
      wasInUse: async (group, bytes) => {
        // In homes of earlier versions agents could write them: what they have written since the last turn does not
        // count.
        const noted = (await store.folder(group))?.instructions.get(instructionsFile);
        return noted === undefined || noted.sha256 === digest(decode(bytes));
      },
      refused: (change) => this.#refused(change),
    });
  }

  /** Returns the protected files for the group's containers, with the content in use. */
  async protectedFiles(group: string): Promise<readonly ProtectedFile[]> {
    return this.#files.settle(group);
  }

  /** Those of the group that say something. `session`: who uses them. */
  async of(group: string, session: string): Promise<readonly InstructionText[]> {
    const files = await this.#files.settle(group);
    const texts: Texts = new Map(files.map(({ name, bytes }) => [name, decode(bytes)]));
    const used = this.#used.get(group);
    if (!used || !isDeepStrictEqual(used, texts)) {
      await this.#compare({ group, session }, texts);
      const states = (await this.#options.store.folder(group))?.instructions ?? [];
      this.#origins.set(group, new Map([...states].map(([file, { origins }]) => [file, origins])));
      this.#used.set(group, texts);
    }
    const said = [...texts].map(([file, text]) => ({
      file,
      text: sourced(text, this.#origins.get(group)?.get(file) ?? []),
    }));
    return said.filter(({ text: { text } }) => text.trim() !== "");
  }

  /** The AGENTS.md that is in use, with the SHA-256 of its bytes. */
  async current(group: string): Promise<{ readonly text: string; readonly sha256: string }> {
    const file = (await this.#files.settle(group)).find(({ name }) => name === instructionsFile);
    return { text: decode(file?.bytes), sha256: file?.sha256 ?? digest("") };
  }

  /**
   * Puts a new AGENTS.md in the place of the one in use, once people have allowed it; `changed`: it is not a change of
   * that one.
   */
  async replace(
    group: string,
    {
      content,
      origins,
      actor,
      allowedAt,
      begin,
      ...change
    }: Omit<InstructionsChange, "bytes" | "begin"> & {
      readonly content: string;
      readonly origins: readonly Origin[];
      readonly actor: Actor;
      readonly allowedAt: number;
      readonly begin: () => Promise<void>;
    },
  ): Promise<"written" | "changed"> {
    const { store, publish, clock } = this.#options;
    const bytes = Buffer.from(content);
    const after = { bytes: bytes.length, sha256: digest(content) };
    const outcome = await this.#files.replace(group, {
      ...change,
      bytes,
      begin: async (inUse) => {
        const before = { bytes: inUse.length, sha256: digest(decode(inUse)) };
        const data = { file: instructionsFile, ...after, before };
        // A crash between the two leaves the event without the mark: it is not told again then.
        if (!(await this.#isOnRecord(group, { data, since: allowedAt })))
          await publish({ type: "instructions.changed", group: groupOfFolder(group), actor, data });
        await begin();
      },
    });
    if (outcome === "written")
      await store.noteInstructions(group, instructionsFile, {
        ...after,
        origins: ["agent", ...origins],
        changedAt: clock.now(),
      });
    return outcome;
  }

  async #isOnRecord(
    group: string,
    { data, since }: { readonly data: object; readonly since: number },
  ): Promise<boolean> {
    const filter = { types: ["instructions.changed"], group: groupOfFolder(group) } as const;
    const { events } = await this.#options.changes.before(Number.MAX_SAFE_INTEGER, filter, 1);
    return events.some((event) => event.at >= since && isDeepStrictEqual(event.data, data));
  }

  /** Compares the texts; missing files have none. */
  async #compare(place: { readonly group: string; readonly session: string }, texts: Texts): Promise<void> {
    const noted = (await this.#options.store.folder(place.group))?.instructions ?? new Map<ProtectedFileName, never>();
    for (const file of new Set([...texts.keys(), ...noted.keys()])) {
      await this.#note(place, { file, text: texts.get(file) ?? "", before: noted.get(file) });
    }
  }

  async #note(
    { group, session }: { readonly group: string; readonly session: string },
    { file, text, before }: { file: ProtectedFileName; text: string; before: InstructionsState | undefined },
  ): Promise<void> {
    const { store, publish, clock } = this.#options;
    const sha256 = digest(text);
    const bytes = Buffer.byteLength(text);
    if (before?.sha256 === sha256) return;
    if (before) {
      const data = { file, bytes, sha256, before: { bytes: before.bytes, sha256: before.sha256 } };
      await publish({ type: "instructions.changed", group: groupOfFolder(group), session, actor: "host", data });
    }
    await store.noteInstructions(group, file, { sha256, bytes, origins: [], changedAt: before && clock.now() });
  }

  async #refused(change: RefusedChange): Promise<void> {
    const { group, file, reason, movedTo } = change;
    const { publish, tell, logger, clock } = this.#options;
    const data = { file, reason, ...(movedTo !== undefined && { movedTo }) };
    await publish({ type: "file.refused", group: groupOfFolder(group), actor: "host", data });
    const text = `${file} of group ${group} has changed, and the change is not used: ${reasons[reason]}. ${remedy(change)}`;
    logger.warn({ group, ...data }, text);
    const now = clock.monotonic();
    if (now - (this.#told.get(group) ?? -noticeMs) < noticeMs) return;
    this.#told.set(group, now);
    tell(text);
  }
}

function decode(bytes: Uint8Array | undefined): string {
  return new TextDecoder().decode(bytes);
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

const reasons: Readonly<Record<HostileRefusal, string>> = {
  missing: "it was removed",
  "bad-name": "its name cannot be used",
  link: "it is a link",
  "not-a-file": "it is not a regular file",
  "hard-linked": "it has a hard link",
  "foreign-owner": "it belongs to the agent, or to another user than the host's",
  "odd-mode": "it has unusual permissions",
  "writable-by-others": "other users than its owner can write to it",
  "too-large": "it is larger than 256 KiB",
  unreadable: "it cannot be read",
};

/** Returns the operator's options, in one or two sentences. */
function remedy({ group, file, reason, movedTo }: RefusedChange): string {
  if (reason === "missing") return "It has been restored. To have no instructions, leave it empty.";
  if (movedTo !== undefined) {
    return `It is now ${movedTo} in the group's folder, and what was in use before is back in its place. If the change was yours, make it again there.`;
  }
  const stays = "What was in use before stays in use until it is corrected";
  if (reason !== "writable-by-others") return `${stays}.`;
  // Who has it open goes on writing, whatever its mode is by then.
  return `${stays}: run "${ownCommand(`sessions stop ${group}`)}", see that its text is yours, and run "chmod 644 ${file}" in the group's folder.`;
}
