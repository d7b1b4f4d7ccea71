import type { Command } from "commander";

import { unknownGroup } from "../../../../domain/chats/group.ts";
import type { CommandContext } from "../../context.ts";
import { addLeaf } from "../../context.ts";
import { followLogs, readLogs } from "../../log-reader.ts";
import type { LogLine, LogQuery } from "../../log-reader.ts";
import type { Output } from "../../output.ts";
import { parseCount } from "../../parse-count.ts";
import { parseMoment } from "../../since.ts";
import { listGroups } from "../../../../operations/groups/operations.ts";

const newestShown = 200;

export function addLogsCommand(program: Command, context: CommandContext): void {
  addLeaf(program, "logs", "show log lines of the host, the agents and their containers")
    .option("--group <name>", "only this group")
    .option("--since <time>", "all lines since this time, such as 10m, 2h, 1d or 2026-01-31T12:00Z", parseMoment)
    .option("--lines <count>", `number of newest lines (default: ${newestShown}, with --since all)`, parseCount)
    .option("--follow", "wait for more")
    .action(async ({ group, since, lines, follow }: Options, command: Command) => {
      const output = context.outputOf(command);
      const { sessions: sessionsFolder, hostLog } = context.paths;
      const query = { sessionsFolder, hostLog, group, since };
      const last = lines ?? (since === undefined ? newestShown : Infinity);
      if (group !== undefined) await requireKnown(context, { sessionsFolder, hostLog }, group);
      if (follow !== true) {
        for (const line of await readLogs(query, last)) show(output, line);
        return;
      }
      const untilKilled = new AbortController();
      for await (const line of followLogs(query, last, untilKilled.signal)) show(output, line);
    });
}

interface Options {
  readonly group?: string;
  readonly since?: number;
  readonly lines?: number;
  readonly follow?: boolean;
}

/**
 * Throws `not_found` for a group that is neither configured nor added and has no log. The configuration may be invalid.
 */
async function requireKnown(context: CommandContext, logs: LogQuery, group: string): Promise<void> {
  const { configuredGroups } = await import("../../../../config/configured/groups.ts");
  const check = await context.checkConfig();
  const configured = check.ok ? configuredGroups(check.loaded.config).map(({ name }) => name) : [];
  if (configured.includes(group)) return;
  const added = (await context.call(listGroups, {}).catch(() => [])).map(({ name }) => name);
  const logged = (await readLogs(logs, Infinity)).flatMap((line) => line.group ?? []);
  const known = new Set([...configured, ...added, ...logged]);
  if (!known.has(group)) throw unknownGroup(group, [...known].toSorted());
}

function show(output: Output, line: LogLine): void {
  if (output.json) {
    output.object(line);
    return;
  }
  const who = [line.group, line.source].filter(Boolean).join(" ");
  const level = line.level === "info" ? "" : ` ${line.level.toUpperCase()}`;
  const loud = line.level === "error" || line.level === "warn";
  output.line(`${line.time.slice(0, 19).replace("T", " ")} ${who}${level}: ${line.text}`, loud ? "bad" : undefined);
}
