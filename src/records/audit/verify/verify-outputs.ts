import { join } from "node:path";

import { digestOfFile } from "../../../lib/files/file-digest.ts";
import { closingNameOf, parseFullLog } from "../../session-logs/log-names.ts";
import { readAudit } from "../read.ts";
import type { AuditRecord } from "../record.ts";
import type { ChainFault } from "./verify-chain.ts";

interface Output {
  readonly seq: number;
  readonly session: string;
  readonly file: string;
  readonly bytes: unknown;
  readonly sha256: unknown;
}

/** A clock may be set back a little while the log is read. */
const overlapMs = 60_000;

/** Verifies closed container logs that the audit log knows and nobody removed. */
export class KeptOutputs {
  readonly #since = Date.now();
  readonly #kept = new Map<string, Output>();

  /** Takes the records in order. */
  note({ seq, type, session, data }: AuditRecord): void {
    const file = data["file"];
    if (session === null || typeof file !== "string") return;
    if (type === "log-pruned") this.#kept.delete(`${session}/${file}`);
    if (type !== "container-output") return;
    this.#kept.set(`${session}/${file}`, { seq, session, file, bytes: data["bytes"], sha256: data["sha256"] });
  }

  /** `folder` holds the sessions' folders; `auditFolder` is asked for what was removed in the meantime. */
  async compare(folder: string, auditFolder: string): Promise<{ readonly good: number; readonly fault?: ChainFault }> {
    const wrong: { output: Output; reason: string }[] = [];
    for (const output of this.#kept.values()) {
      const reason = await faultOf(folder, output);
      if (reason !== undefined) wrong.push({ output, reason });
    }
    const good = this.#kept.size - wrong.length;
    if (wrong.length > 0) await this.#noteRemovals(auditFolder);
    const [first] = wrong.filter(({ output: { session, file } }) => this.#kept.has(`${session}/${file}`));
    if (!first) return { good };
    const { seq, session, file } = first.output;
    return { good, fault: { seq, place: { file: join(folder, session, file) }, reason: first.reason } };
  }

  /** A host that runs goes on removing. */
  async #noteRemovals(folder: string): Promise<void> {
    for await (const record of readAudit({ folder, since: this.#since - overlapMs })) {
      if (record.type === "log-pruned") this.note(record);
    }
  }
}

async function faultOf(folder: string, { session, file, bytes, sha256 }: Output): Promise<string | undefined> {
  const log = parseFullLog(file);
  if (!log || !/^[A-Za-z0-9_-]{1,128}$/.test(session)) return "the record names no log of a container";
  const path = join(folder, session, file);
  const found = await digestOfFile(path).catch(() => digestOfFile(closingNameOf(path)).catch(() => undefined));
  if (found === undefined) return "a log of a container is missing, and no record says that it was removed";
  if (found.bytes === bytes && found.sha256 === sha256) return undefined;
  return `a log of a container was changed after it was closed: it has ${found.bytes} bytes, and had ${String(bytes)}`;
}
