import { readFile } from "node:fs/promises";

import { InvalidArgumentError } from "commander";
import type { Command } from "commander";

import { readAudit } from "../../../../records/audit/read.ts";
import type { VerifyResult } from "../../../../records/audit/verify/verify.ts";
import { AppError } from "../../../../lib/app-error.ts";
import { describeAuditFault, verifyHomeAudit } from "./check.ts";
import { addReportCommand } from "./report.ts";
import type { CommandContext } from "../../context.ts";
import { addLeaf } from "../../context.ts";
import { parseCount } from "../../parse-count.ts";
import type { Output } from "../../output.ts";
import { parseMoment } from "../../since.ts";

/** A record that was noted elsewhere. */
interface Anchor {
  readonly seq: number;
  readonly hash: string;
}

export function addAuditCommand(program: Command, context: CommandContext): void {
  const audit = program.command("audit").description("verify, show or report the audit log");
  addVerifyCommand(audit, context);
  addReportCommand(audit, context);

  addLeaf(audit, "tail", "show the newest records")
    .option("--group <name>", "only this group")
    .option("--lines <count>", "how many", parseCount, 20)
    .action(async (options: { group?: string; lines: number }, command: Command) => {
      const records = await Array.fromAsync(
        readAudit({ folder: context.paths.audit, group: options.group, last: options.lines }),
      );
      context.outputOf(command).items(
        records,
        [
          { title: "seq", of: (record) => record.seq },
          { title: "time (UTC)", of: (record) => record.ts.slice(0, 19).replace("T", " ") },
          { title: "type", of: (record) => record.type },
          { title: "group", of: (record) => record.group ?? "" },
          { title: "actor", of: (record) => record.actor },
          { title: "data", of: (record) => JSON.stringify(record.data) },
        ],
        "There are no records.",
      );
    });

  addLeaf(audit, "export", "export records as JSON lines, oldest first")
    .option("--group <name>", "only this group")
    .option("--since <time>", "records since this time, such as 2h, 7d or 2026-01-31T12:00Z", parseMoment)
    .action(async (options: { group?: string; since?: number }, command: Command) => {
      const output = context.outputOf(command);
      for await (const record of readAudit({ folder: context.paths.audit, ...options })) output.object(record);
    });
}

function addVerifyCommand(audit: Command, context: CommandContext): void {
  addLeaf(audit, "verify", "verify that the log was not changed; exit 1 if it was")
    .option("--public-key <file>", "a copy of keys/audit-ed25519.pub that was stored elsewhere")
    .option(
      "--anchor <seq:hash>",
      "a record's number and hash (8 digits or more) that were noted elsewhere",
      parseAnchor,
    )
    .action(async (options: { publicKey?: string; anchor?: Anchor }, command: Command) => {
      const publicKey = options.publicKey === undefined ? undefined : await readKey(options.publicKey);
      const result = await verifyHomeAudit(context.paths, { publicKey, anchor: options.anchor });
      if (!result.ok) context.exitCode = 1;
      const output = context.outputOf(command);
      if (output.json) output.object(result);
      else showResult(output, result);
    });
}

function showResult(output: Output, result: VerifyResult): void {
  output.line(describeVerdict(result), result.ok ? "good" : "bad");
  if (result.head !== undefined)
    output.line(`Last valid record (note it elsewhere): ${result.head.seq}:${result.head.hash}`);
  for (const gap of result.gaps)
    output.line(`Declared by the log itself: ${gap.type} at record ${gap.seq} (${gap.ts}).`);
  for (const sentence of result.proves) output.line(`Proved: ${sentence}`);
  for (const sentence of result.doesNotProve) output.line(`Not proved: ${sentence}`, "dim");
}

/** The verdict on one line. */
function describeVerdict(result: VerifyResult): string {
  const { ok, records, outputs, unanchoredTail, signer } = result;
  if (!ok) {
    const isChain = (result.firstBadSeq ?? 0) > records;
    const what = isChain ? "the audit log was changed" : "a container log does not match the audit log";
    return `BROKEN: ${what}. ${describeAuditFault(result)}`;
  }
  if (records === 0) return "valid: 0 records, the audit log is empty";
  const last = records - unanchoredTail;
  const upTo = last === records ? "" : ` up to record ${last}`;
  const signed = signer === undefined || last === 0 ? "not signed yet" : `signed by ${signer}${upTo}`;
  const logs = outputs === 0 ? "" : `; ${outputs} closed container logs unchanged`;
  return `valid: ${records} records unbroken, ${signed}${logs}`;
}

async function readKey(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new AppError("bad_input", `Cannot read the public key ${file}.`, { cause });
  }
}

function parseAnchor(text: string): Anchor {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{8,64})$/.exec(text) ?? [];
  if (seq !== undefined && hash !== undefined) return { seq: Number(seq), hash };
  throw new InvalidArgumentError("It must be a number, a colon and at least 8 digits of a hash.");
}
