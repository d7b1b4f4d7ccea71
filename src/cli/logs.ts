import { InvalidArgumentError } from "commander";
import type { Command } from "commander";

import type { CommandContext } from "./context.ts";
import { addLeaf } from "./context.ts";
import { followLogs, readLogs } from "./log-reader.ts";
import type { LogLine } from "./log-reader.ts";
import type { Output } from "./output.ts";

export function addLogsCommand(program: Command, context: CommandContext): void {
  addLeaf(program, "logs", "what the host, the agents and their containers logged")
    .option("--group <name>", "only this group")
    .option("--lines <count>", "how many of the newest lines", parseCount, 200)
    .option("--follow", "wait for more")
    .action(async (options: { group?: string; lines: number; follow?: boolean }, command: Command) => {
      const output = context.outputOf(command);
      const query = { sessionsFolder: context.paths.sessions, hostLog: context.paths.hostLog, group: options.group };
      if (options.follow !== true) {
        for (const line of await readLogs(query, options.lines)) show(output, line);
        return;
      }
      const untilKilled = new AbortController();
      for await (const line of followLogs(query, options.lines, untilKilled.signal)) show(output, line);
    });
}

/** For options that count something: 0 or more. */
export function parseCount(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number.");
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
