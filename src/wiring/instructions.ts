import { createHash } from "node:crypto";

import { instructionsFile } from "../domain/protected-file.ts";
import type { ProtectedFile } from "../domain/protected-file.ts";
import type { HostileRefusal } from "../lib/open-hostile-file.ts";
import { ProtectedFiles } from "../sandbox/workspace/protected-files.ts";
import type { RefusedChange } from "../sandbox/workspace/protected-files.ts";
import type { TellOperator } from "./alerts.ts";
import { hostUid } from "./context.ts";
import type { AppContext } from "./context.ts";

type Context = Pick<AppContext, "home" | "store" | "record" | "logs" | "logger" | "clock">;

/** Between two notices in a chat about one group: its agent may be able to cause as many as it likes. */
const noticeMs = 3_600_000;

/**
 * The AGENTS.md of groups. Only the operator can change them; they outlive `/new` and restarts: a change is put on record when
 * it is first used, once, and one that is not the operator's is put on record and not used.
 */
export class Instructions {
  readonly #context: Context;
  readonly #tell: TellOperator;
  readonly #files: ProtectedFiles;
  /** What each group used last: as long as it is the same, nothing is computed or asked. */
  readonly #used = new Map<string, string>();
  /** When the operator was last told about a group, by the monotonic clock. */
  readonly #told = new Map<string, number>();

  constructor(context: Context, tell: TellOperator) {
    const { home, store } = context;
    this.#context = context;
    this.#tell = tell;
    this.#files = new ProtectedFiles(
      { groups: home.paths.groups, copies: home.paths.instructions },
      hostUid(),
      async (group, bytes) => {
        // In homes of earlier versions agents could write them: what they have written since the last turn does not count.
        const noted = (await store.groups.folder(group))?.instructions?.sha256;
        return noted === undefined || noted === digest(decode(bytes));
      },
      (change) => this.#refused(change),
    );
  }

  /** What the group's containers get, as it is in use now. */
  async protectedFiles(group: string): Promise<readonly ProtectedFile[]> {
    return this.#files.settle(group);
  }

  /** Those of the group; empty when it has none. `session`: who uses them. */
  async of(group: string, session: string): Promise<string> {
    const files = await this.#files.settle(group);
    const text = decode(files.find(({ name }) => name === instructionsFile)?.bytes);
    if (this.#used.get(group) === text) return text;
    await this.#compare({ group, session }, text);
    this.#used.set(group, text);
    return text;
  }

  async #compare(
    { group, session }: { readonly group: string; readonly session: string },
    text: string,
  ): Promise<void> {
    const { store, record, logs, logger, clock } = this.#context;
    const sha256 = digest(text);
    const bytes = Buffer.byteLength(text);
    const before = (await store.groups.folder(group))?.instructions;
    if (before?.sha256 === sha256) return;
    if (before) {
      const data = { file: instructionsFile, bytes, sha256, before: { bytes: before.bytes, sha256: before.sha256 } };
      await record({ type: "instructions-changed", group, session, actor: "host", data });
      const told = `AGENTS.md has changed since the last turn: ${before.bytes} bytes before, ${bytes} now.`;
      logs.of({ id: session, group }).write("host", "warn", told);
      logger.warn({ group, ...data }, "a group's instructions have changed since its last turn");
    }
    await store.groups.noteInstructions(group, { sha256, bytes, changedAt: before && clock.now() });
  }

  async #refused(change: RefusedChange): Promise<void> {
    const { group, file, reason, movedTo } = change;
    const { record, logger, clock } = this.#context;
    const data = { file, reason, ...(movedTo !== undefined && { movedTo }) };
    await record({ type: "file-refused", group, actor: "host", data });
    const text = `${file} of group ${group} has changed, and the change is not used: ${reasons[reason]}. ${remedy(change)}`;
    logger.warn({ group, ...data }, text);
    const now = clock.monotonic();
    if (now - (this.#told.get(group) ?? -noticeMs) < noticeMs) return;
    this.#told.set(group, now);
    this.#tell({ text });
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
  "hard-linked": "it has a second name (a hard link)",
  "foreign-owner": "it belongs to the agent, or to another user than the host's",
  "odd-mode": "its mode is odd",
  "writable-by-others": "other users than its owner can write to it",
  "too-large": "it is larger than 256 KiB",
  unreadable: "it cannot be read",
};

/** What the operator can do, in a sentence or two. */
function remedy({ group, file, reason, movedTo }: RefusedChange): string {
  if (reason === "missing") return "It has been put back. To have none, leave it empty.";
  if (movedTo !== undefined) {
    return `It is now ${movedTo} in the group's folder, and what was in use before is back in its place. If the change was yours, make it again there.`;
  }
  const stays = "What was in use before stays in use until it is corrected";
  if (reason !== "writable-by-others") return `${stays}.`;
  // Who has it open goes on writing, whatever its mode is by then.
  return `${stays}: run "crabpot sessions stop ${group}", see that its text is yours, and run "chmod 644 ${file}" in the group's folder.`;
}
