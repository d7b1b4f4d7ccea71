import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import { Option } from "commander";
import type { Command } from "commander";

import { htmlReport } from "../../../../records/audit/report/html-report.ts";
import { jsonReport } from "../../../../records/audit/report/json-report.ts";
import { markdownReport } from "../../../../records/audit/report/markdown-report.ts";
import { parseRange, type ReportRange } from "../../../../records/audit/report/range.ts";
import { auditReport } from "../../../../records/audit/report/report.ts";
import type { ReportFormat, UsageRows } from "../../../../records/audit/report/report-format.ts";
import { AppError, toError } from "../../../../lib/app-error.ts";
import { visibleLines } from "../../../../lib/text/visible.ts";
import { utcDay } from "../../../../lib/time/utc-day.ts";
import { ZoneClock } from "../../../../lib/time/zone-clock.ts";
import { openStoreReader } from "../../../../stores/catalog.ts";
import { addLeaf, type CommandContext, wantsJson } from "../../context.ts";
import { verifyHomeAudit } from "./check.ts";

type StoreReader = Awaited<ReturnType<typeof openStoreReader>>;

interface ReportCommandOptions {
  readonly from: string;
  readonly to: string;
  readonly group?: string;
  readonly format: "md" | "json" | "html";
  readonly out?: string;
  readonly texts?: boolean;
}

export function addReportCommand(audit: Command, context: CommandContext): void {
  addLeaf(audit, "report", "report who asked, approved, ran and changed what, what was refused, and what it cost")
    .requiredOption("--from <date>", "start: a date, or a time such as 2026-01-31T12:00Z; included")
    .requiredOption("--to <date>", "end: a date, included, or a time, not included")
    .option("--group <name>", "only this group")
    .addOption(new Option("--format <format>", "output format").choices(["md", "json", "html"]).default("md"))
    .option("--out <file>", "write to this file instead of stdout, replacing it")
    .option("--texts", "include message texts that are still stored")
    .action(async (options: ReportCommandOptions, command: Command) => {
      const isOk = await report(context, { ...options, ...(wantsJson(command) && { format: "json" }) });
      if (!isOk) context.exitCode = 1;
    });
}

/** False: the log is broken. */
async function report(context: CommandContext, options: ReportCommandOptions): Promise<boolean> {
  const { paths } = context;
  const zone = await readZone(context);
  const range = parseRange(options.from, options.to, zone);
  await using stack = new AsyncDisposableStack();
  const store = stack.use(await openStore(context, options));
  const verified = await verifyHomeAudit(paths);
  const names = await readNames(store);
  const pieces = auditReport({
    folder: paths.audit,
    verified,
    range,
    group: options.group,
    zone,
    format: formatOf(options),
    nameOf: (group, member) => names.get(`${group}\n${member}`),
    messages: store && options.texts === true ? (seqs) => store.messages.withSeqs(seqs) : undefined,
    usageRows: store && (await readUsage(store, range, options.group)),
    now: Date.now(),
  });
  await write(context, options.out, pieces);
  if (!verified.ok)
    context.streams.stderr.write(`crabpot: the audit log is broken at record ${verified.firstBadSeq ?? "?"}\n`);
  return verified.ok;
}

function formatOf({ format, texts = false }: ReportCommandOptions): ReportFormat {
  if (format === "json") return jsonReport();
  return format === "html" ? htmlReport(texts) : markdownReport(texts);
}

/** A configuration that cannot be used, for want of a variable say, must not keep anybody from reading the log. */
async function readZone(context: CommandContext): Promise<ZoneClock> {
  const { paths, streams } = context;
  const check = await context.checkConfig();
  if (check.ok) return new ZoneClock(check.loaded.config.timezone);
  streams.stderr.write(`crabpot: cannot use ${visibleLines(paths.config)}: days and times are in UTC\n`);
  return new ZoneClock("UTC");
}

/** Names and usage are told where there is a store; who asks for texts has to have one. */
async function openStore({ paths, streams }: CommandContext, { texts }: ReportCommandOptions) {
  try {
    return await openStoreReader({ path: paths.database });
  } catch (error) {
    if (texts === true || !(error instanceof AppError)) throw error;
    const reason = visibleLines(toError(error).message);
    streams.stderr.write(`crabpot: names and usage of members are missing: ${reason}\n`);
    return undefined;
  }
}

async function readNames(store: StoreReader | undefined): Promise<ReadonlyMap<string, string>> {
  const members = (await store?.chats.allMembers()) ?? [];
  return new Map(members.map(({ group, id, name }) => [`${group}\n${id}`, name]));
}

async function readUsage(store: StoreReader, range: ReportRange, group: string | undefined): Promise<UsageRows> {
  const [from, to] = [utcDay(range.from), utcDay(range.to - 1)];
  const sums = (by: "group" | "member" | "model") => store.usage.sums(by, from, { until: to, group });
  return { from, to, groups: await sums("group"), members: await sums("member"), models: await sums("model") };
}

async function write({ streams }: CommandContext, file: string | undefined, pieces: AsyncIterable<string>) {
  if (file === undefined) {
    await pipeline(Readable.from(pieces), streams.stdout, { end: false });
    return;
  }
  try {
    await pipeline(Readable.from(pieces), createWriteStream(file, { mode: 0o600 }));
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw new AppError("bad_input", `The report could not be written to ${file}: ${toError(cause).message}.`, {
      cause,
    });
  }
}
