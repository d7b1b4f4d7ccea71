import { createHash, randomUUID } from "node:crypto";
import { readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, join, posix } from "node:path";

import type { Logger } from "pino";

import { groupOfFolder } from "../domain/chats/group.ts";
import type { OutgoingFile, OutgoingMessage } from "../domain/chats/message.ts";
import type { VoiceMessage } from "../domain/settings/speech.ts";
import { AppError, toError } from "../lib/app-error.ts";
import { formatBytes } from "../lib/text/bytes.ts";
import type { Clock } from "../lib/time/clock.ts";
import { hiddenCharacter } from "../lib/text/hidden-characters.ts";
import { HostileFolder, type HostileRefusal } from "../lib/files/open-hostile-file.ts";
import { containerPaths } from "../protocol/paths.ts";
import type { OutboxStore } from "../stores/contract/outbox-store.ts";
import { sniffedBytes, sniffFileType } from "../lib/files/file-type.ts";

export interface OutgoingFilesOptions {
  readonly groupsFolder: string;
  /** Private folder of the host for copies. */
  readonly folder: string;
  readonly store: Pick<OutboxStore, "withFiles">;
  /** People fetch the files of this channel when they like. */
  readonly isFetchedLater: (channel: string) => boolean;
  /** Bytes that may be written on the disk. */
  readonly freeBytes: () => Promise<number>;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Logger;
}

/** A copy that has no name yet. `head`: how it begins. */
interface Written {
  readonly bytes: number;
  readonly sha256: string;
  readonly head: Buffer;
}

const megabyte = 1_000_000;
const fileBytes = 64 * megabyte;
/** Maximum bytes of a group's kept copies, so that an agent cannot fill the disk by sending. */
const groupBytes = 512 * megabyte;
const hourMs = 3_600_000;
const fetchedLaterMs = 24 * hourMs;
/** A copy that no row names yet is on its way into one. */
const freshMs = hourMs;
const nameChars = 100;
const foldersDeep = 64;

const refusals: Readonly<Record<HostileRefusal, string>> = {
  missing: "there is no such file",
  "bad-name": "its name cannot be used",
  link: "it is a link",
  "not-a-file": "it is not a regular file",
  "hard-linked": "it has a hard link; send a copy of it",
  "foreign-owner": "it belongs to somebody else",
  "odd-mode": "it has unusual permissions",
  "writable-by-others": "others can write to it",
  "too-large": `it is larger than ${formatBytes(fileBytes)}`,
  unreadable: "it cannot be read",
};

/**
 * Files sent by agents, copied once into a folder of the host and sent from there. The agent owns the source folder, so
 * links are not followed and only files are opened. A copy is named by its content and removed when no message needs
 * it.
 */
export class OutgoingFiles implements AsyncDisposable {
  readonly #options: OutgoingFilesOptions;
  readonly #timer: NodeJS.Timeout;
  #sweeping: Promise<void> | undefined;

  private constructor(options: OutgoingFilesOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#sweepLater(), hourMs).unref();
  }

  /** Removes what an earlier life of the host has left behind. */
  static async open(options: OutgoingFilesOptions): Promise<OutgoingFiles> {
    for (const name of await readdir(options.folder)) {
      if (name.endsWith(".new")) await rm(join(options.folder, name), { force: true });
    }
    const files = new OutgoingFiles(options);
    await files.sweep();
    return files;
  }

  /**
   * Copies a file of an agent's folder, given by its path in the container. Throws `bad_input` with what is wrong, for
   * the model.
   */
  async keep(folder: string, path: string): Promise<OutgoingFile> {
    const copy = (temporary: string, maxBytes: number): Promise<Written> =>
      this.#copy(folder, path, { temporary, maxBytes });
    const { head, ...kept } = await this.#keptAs(groupOfFolder(folder), copy);
    const name = cleanName(basename(path));
    return { ...kept, name, mimeType: sniffFileType(head, name).mimeType };
  }

  /** Keeps what was said aloud. Throws `too_large` where there is no room, in words for the model. */
  async keepVoice(group: string, { content, ...voice }: VoiceMessage): Promise<OutgoingFile> {
    const write = async (temporary: string): Promise<Written> => {
      await writeFile(temporary, content, { mode: 0o600, flag: "wx", flush: true });
      const sha256 = createHash("sha256").update(content).digest("hex");
      return { bytes: content.length, sha256, head: Buffer.from(content.subarray(0, sniffedBytes)) };
    };
    const { head, ...kept } = await this.#keptAs(group, write);
    const { mimeType, extension } = sniffFileType(head);
    return { ...kept, name: `voice.${extension}`, mimeType, voice };
  }

  /** Removes copies that no message needs. */
  async sweep(): Promise<void> {
    const needed = new Set((await this.#keptRows()).map(({ file }) => file?.path));
    for (const name of await readdir(this.#options.folder)) {
      const path = join(this.#options.folder, name);
      if (needed.has(path)) continue;
      const facts = await stat(path).catch(() => undefined);
      if (facts && this.#options.clock.now() - facts.mtimeMs >= freshMs) await rm(path, { force: true });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#sweeping;
  }

  #sweepLater(): void {
    this.#sweeping = this.sweep().catch((error: unknown) => {
      this.#options.logger.warn({ err: toError(error) }, "copies of sent files could not be removed; retrying");
    });
  }

  /**
   * Under the name of its content, which it gets when it is there as a whole. Throws `too_large` where there is no
   * room.
   */
  async #keptAs(
    group: string,
    write: (temporary: string, maxBytes: number) => Promise<Written>,
  ): Promise<Pick<OutgoingFile, "path" | "bytes"> & Pick<Written, "head">> {
    const { folder } = this.#options;
    const temporary = join(folder, `${randomUUID()}.new`);
    try {
      const { bytes, sha256, head } = await write(temporary, await this.#roomFor(group));
      const path = join(folder, sha256);
      await rename(temporary, path);
      return { path, bytes, head };
    } finally {
      await rm(temporary, { force: true });
    }
  }

  async #copy(
    agentFolder: string,
    path: string,
    { temporary, maxBytes }: { temporary: string; maxBytes: number },
  ): Promise<Written> {
    const names = namesOf(path);
    await using opened = new AsyncDisposableStack();
    let folder = opened.use(await HostileFolder.open(join(this.#options.groupsFolder, agentFolder)));
    for (const name of names.slice(0, -1)) {
      const next = await folder.openFolder(name);
      if (!next) throw refused(path, `${name} is not a folder, or is a link`);
      folder = opened.use(next);
    }
    const copied = await folder.copyFile(names.at(-1) ?? "", temporary, { maxBytes });
    if (!copied.ok) throw refused(path, refusals[copied.reason]);
    return copied;
  }

  async #roomFor(group: string): Promise<number> {
    if ((await this.#options.freeBytes()) < fileBytes) {
      throw new AppError("too_large", "No file can be sent: the host's disk is nearly full.");
    }
    const rows = (await this.#keptRows()).filter((row) => row.group === group);
    const kept = rows.reduce((total, { file }) => total + (file?.bytes ?? 0), 0);
    if (kept + fileBytes <= groupBytes) return fileBytes;
    throw new AppError(
      "too_large",
      `No file can be sent for now: ${formatBytes(kept)} of files are waiting to be delivered, for a day at most.`,
    );
  }

  async #keptRows(): Promise<OutgoingMessage[]> {
    const { store, clock, isFetchedLater } = this.#options;
    const rows = await store.withFiles(clock.now() - fetchedLaterMs);
    return rows.filter(({ state, channel }) => {
      const isSent = state === "accepted" || state === "delivered";
      return !isSent || isFetchedLater(channel);
    });
  }
}

/** The way from the group's folder to the file. */
function namesOf(path: string): string[] {
  const inGroup = posix.normalize(path);
  const prefix = `${containerPaths.group}/`;
  const names = inGroup.startsWith(prefix) ? inGroup.slice(prefix.length).split("/") : [];
  if (names.length === 0) {
    throw refused(path, `only files below ${containerPaths.group} can be sent; copy it there and send the copy`);
  }
  if (names.length > foldersDeep) throw refused(path, "it is nested too deeply");
  return names;
}

function refused(path: string, reason: string): AppError {
  return new AppError("bad_input", `${path} was not sent: ${reason}.`);
}

/** One line without what steers a terminal, hides, or means something to a file system or a shell. */
function cleanName(name: string): string {
  const clean = name
    .toWellFormed()
    .replaceAll(hiddenCharacter, "_")
    .replaceAll(/[/\\:*?"<>|]/g, "_")
    .replaceAll(/^[.\s]+|(?<![.\s])[.\s]+$/g, "");
  const short = clean.length <= nameChars ? clean : shorten(clean);
  return short === "" ? "file" : short;
}

/** In the middle, so that the ending stays. */
function shorten(name: string): string {
  return `${name.slice(0, nameChars - 20)}…${name.slice(-19)}`.toWellFormed();
}
