import { stat } from "node:fs/promises";

import type { VerifyResult } from "../../../../records/audit/verify/verify.ts";
import { verifyAudit } from "../../../../records/audit/verify/verify.ts";
import type { HomePaths } from "../../../../config/home/home.ts";
import { openAuditWitness } from "../../../../stores/catalog.ts";

/** Knowledge stored outside the home, compared with the log. */
export interface OutsideKnowledge {
  /** Text of a public key file. */
  readonly publicKey?: string | undefined;
  readonly anchor?: { readonly seq: number; readonly hash: string } | undefined;
}

/** Checks the log of a home against everything that the home itself knows of it, and what is known from outside. */
export async function verifyHomeAudit(paths: HomePaths, known: OutsideKnowledge = {}): Promise<VerifyResult> {
  const options = { folder: paths.audit, keyFolder: paths.keys, sessionsFolder: paths.sessions, ...known };
  if ((await stat(paths.database).catch(() => undefined)) === undefined) return verifyAudit(options);
  await using witness = await openAuditWitness({ path: paths.database });
  return await verifyAudit({ ...options, index: witness });
}

/** Describes the first fault and its place, on one line. */
export function describeAuditFault({ firstBadSeq, file, line, reason }: VerifyResult): string {
  const place = file === undefined ? "" : ` (${file}${line === undefined ? "" : `, line ${line}`})`;
  return `Record ${firstBadSeq ?? "?"}${place}: ${reason ?? "it does not match its hash"}`;
}
