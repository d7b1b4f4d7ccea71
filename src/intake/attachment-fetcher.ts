import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, open, readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";

import type { Logger } from "pino";

import type { FetchedAttachment, HearSound, IncomingAttachment, Recording } from "../domain/chats/message.ts";
import { AppError, isPassing, toError } from "../lib/app-error.ts";
import { formatBytes } from "../lib/text/bytes.ts";
import type { Clock } from "../lib/time/clock.ts";
import { HostileFolder } from "../lib/files/open-hostile-file.ts";
import { giveFileTo, openFolderIn } from "../lib/files/shared-with-owner.ts";
import { rejectAt } from "../lib/time/reject-at.ts";
import { containerPaths } from "../protocol/paths.ts";
import { originalBytes, originalTypes } from "../domain/chats/part.ts";
import { digestOfFile } from "../lib/files/file-digest.ts";
import { type FileType, sniffedBytes, sniffFileType } from "../lib/files/file-type.ts";

export interface AttachmentFetcherOptions {
  readonly groupsFolder: string;
  /** Private folder of the host on the groups' file system; emptied at start. */
  readonly temporaryFolder: string;
  readonly maxBytes: number;
  /** Folders of a group's other agents, created if missing: each gets a copy. */
  readonly otherFolders?: ((group: string) => Promise<readonly string[]>) | undefined;
  /** Bytes that the folders of the group's agents may still take together. */
  readonly roomFor: (group: string) => Promise<number>;
  readonly hostUid: number;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Logger;
  /** Time limit for all files of one message. */
  readonly fetchMs?: number;
  readonly hear?: HearSound | undefined;
}

/** The folder's name below the group's. */
const inboxName = "inbox";
const filesPerMessage = 16;
const fetchMs = 60_000;
const nameChars = 256;
const reasonChars = 200;
const namesTried = 100;

/**
 * Brings the files of members into the folders of their groups, `/workspace/group/inbox` there, under names of ours.
 * The agent owns that folder and may have put anything in our way: a content is complete in a folder of the host's
 * before it gets its name there, no link is followed, and nothing is replaced.
 */
export class AttachmentFetcher implements Disposable {
  readonly #options: AttachmentFetcherOptions;
  readonly #stop = new AbortController();
  /** Counters by group: a shared one would reveal the number of other groups' files. */
  readonly #counts = new Map<string, number>();

  private constructor(options: AttachmentFetcherOptions) {
    this.#options = options;
  }

  /** Removes what an earlier life of the host was in the middle of fetching. */
  static async open(options: AttachmentFetcherOptions): Promise<AttachmentFetcher> {
    for (const left of await readdir(options.temporaryFolder)) {
      await rm(join(options.temporaryFolder, left), { recursive: true, force: true });
    }
    return new AttachmentFetcher(options);
  }

  /**
   * Fetches files and returns their outcomes in order; failures carry a reason, also those beyond `roomBytes`, today's
   * remaining budget. Rejects only for passing trouble, a full disk or the host's end: then the message is not accepted
   * yet.
   */
  async fetchAll(
    group: string,
    attachments: readonly IncomingAttachment[],
    roomBytes = Number.POSITIVE_INFINITY,
  ): Promise<FetchedAttachment[]> {
    const deadline = AbortSignal.any([AbortSignal.timeout(this.#options.fetchMs ?? fetchMs), this.#stop.signal]);
    const fetched: FetchedAttachment[] = [];
    let left = roomBytes;
    for (const attachment of attachments.slice(0, filesPerMessage)) {
      const one = await this.#fetchOne(group, { attachment, roomBytes: left }, deadline);
      left -= one.file?.bytes ?? 0;
      fetched.push(one);
      this.#stop.signal.throwIfAborted();
    }
    const [next] = attachments.slice(filesPerMessage);
    const more = attachments.length - filesPerMessage;
    const failure = `there were ${more} more files, and at most ${filesPerMessage} per message are accepted`;
    return next ? [...fetched, { kind: next.kind, failure }] : fetched;
  }

  /** Stops fetching. */
  [Symbol.dispose](): void {
    this.#stop.abort(new AppError("intake_stopped", "The host is stopping.", { passing: true }));
  }

  async #fetchOne(
    group: string,
    { attachment, roomBytes }: { readonly attachment: IncomingAttachment; readonly roomBytes: number },
    deadline: AbortSignal,
  ): Promise<FetchedAttachment> {
    const { kind } = attachment;
    const name = attachment.name?.replaceAll("\0", "").toWellFormed().slice(0, nameChars);
    const temporary = join(this.#options.temporaryFolder, randomUUID());
    try {
      if (roomBytes <= 0 || (attachment.bytes ?? 0) > roomBytes) throw sentEnough;
      const others = (await this.#options.otherFolders?.(group)) ?? [];
      const limit = Math.min(roomBytes, await this.#limitFor(group, attachment, 1 + others.length));
      await Promise.race([attachment.fetch(temporary, limit, deadline), rejectAt(deadline)]);
      const { bytes, type, sha256 } = await settle(temporary, limit, name);
      const heard = kind === "audio" ? await this.#hear({ group, path: temporary, ...type, bytes }) : undefined;
      const path = await this.#place(group, temporary, type);
      await this.#copyTo(others, temporary, path);
      const file = { path, mimeType: type.mimeType, bytes, ...(sha256 !== undefined && { sha256 }) };
      return { kind, name, file, ...heard };
    } catch (error) {
      if (isPassing(error)) throw error;
      this.#options.logger.warn({ err: toError(error), group, kind }, "a file of a member could not be fetched");
      return { kind, name, failure: deadline.aborted ? "it took too long" : describe(toError(error)) };
    } finally {
      await rm(temporary, { force: true }).catch(() => undefined);
    }
  }

  /** It has its own bounds of time: a long recording takes longer than to fetch it. */
  async #hear(recording: Recording): Promise<Awaited<ReturnType<HearSound>> | undefined> {
    return this.#options.hear?.(recording, this.#stop.signal);
  }

  /** Throws when not even what was announced would have room. */
  async #limitFor(group: string, { bytes = 0 }: IncomingAttachment, copies: number): Promise<number> {
    const { maxBytes } = this.#options;
    if (bytes > maxBytes || maxBytes === 0) throw tooLarge(maxBytes);
    const room = Math.floor((await this.#options.roomFor(group)) / copies);
    if (room <= 0 || bytes > room) {
      throw new AppError("too_large", `the group's folder has no room for it (${formatBytes(Math.max(0, room))} left)`);
    }
    return Math.min(maxBytes, room);
  }

  /** Moves a complete content into the group's inbox; returns its path as the container sees it. */
  async #place(group: string, temporary: string, { extension }: FileType): Promise<string> {
    await using folder = await this.#openGroup(group);
    await using inbox = await this.#openInbox(folder);
    await giveFileTo(folder, temporary, this.#options.hostUid);
    for (let tried = 0; tried < namesTried; tried += 1) {
      const count = (this.#counts.get(group) ?? 0) + 1;
      this.#counts.set(group, count);
      const time = new Date(this.#options.clock.now()).toISOString().slice(0, 19).replaceAll(/[-:]/g, "");
      const name = `${time}-${count}.${extension}`;
      if ((await inbox.linkIn(temporary, name)) === "linked") return `${containerPaths.group}/${inboxName}/${name}`;
    }
    throw new AppError("conflict", "the names in the inbox are all taken");
  }

  /**
   * Under the same name, and never the same file: what one agent makes of it is no other's. Where an agent has put
   * something in the way, it stays.
   */
  async #copyTo(others: readonly string[], content: string, path: string): Promise<void> {
    for (const other of others) {
      await using folder = await this.#openGroup(other);
      await using inbox = await this.#openInbox(folder);
      const copy = `${content}.copy`;
      try {
        await copyFile(content, copy, constants.COPYFILE_EXCL);
        await giveFileTo(folder, copy, this.#options.hostUid);
        await inbox.linkIn(copy, basename(path));
      } finally {
        await rm(copy, { force: true });
      }
    }
  }

  async #openGroup(group: string): Promise<HostileFolder> {
    return HostileFolder.open(join(this.#options.groupsFolder, group)).catch((cause: unknown) => {
      throw new AppError("not_found", "the group's folder cannot be opened", { cause });
    });
  }

  async #openInbox(folder: HostileFolder): Promise<HostileFolder> {
    const inbox = await openFolderIn(folder, inboxName, this.#options.hostUid);
    if (!inbox) throw new AppError("conflict", `${containerPaths.group}/${inboxName} is not a folder`);
    return inbox;
  }
}

/** Looks at what was fetched, and sees that it is on the disk. */
async function settle(
  path: string,
  limit: number,
  name: string | undefined,
): Promise<{ bytes: number; type: FileType; sha256: string | undefined }> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  const facts = await file.stat();
  if (!facts.isFile()) throw new AppError("bad_input", "it is not a file");
  if (facts.size > limit) throw tooLarge(limit);
  const head = Buffer.alloc(sniffedBytes);
  const { bytesRead } = await file.read(head, 0, head.length, 0);
  await file.sync();
  const type = sniffFileType(head.subarray(0, bytesRead), name);
  const isShowable = originalTypes.has(type.mimeType) && facts.size <= originalBytes;
  return { bytes: facts.size, type, sha256: isShowable ? (await digestOfFile(path)).sha256 : undefined };
}

/** For the agent: in the words of the channel or ours, but nothing of the host's own folders. */
function describe(error: Error): string {
  if ("syscall" in error) return "the host could not store it";
  return error.message.slice(0, reasonChars).toWellFormed();
}

const sentEnough = new AppError("too_large", "members have reached today's limit for files");

function tooLarge(limit: number): AppError {
  return new AppError("too_large", `it is larger than ${formatBytes(limit)}`);
}
