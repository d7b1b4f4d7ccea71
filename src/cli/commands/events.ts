import { InvalidArgumentError } from "commander";
import type { Command } from "commander";

import type { HostEvent } from "../../events/event.ts";
import { readEvents } from "../../events/read-events.ts";
import type { EventQuery } from "../../events/read-events.ts";
import { AppError } from "../../lib/app-error.ts";
import { openEventReader } from "../../stores/catalog.ts";
import type { CommandContext } from "../context.ts";
import { addLeaf } from "../context.ts";
import type { Output } from "../output.ts";

const newestShown = 20;

interface Options {
  readonly after?: number;
  readonly type?: string;
  readonly group?: string;
  readonly follow?: boolean;
}

export function addEventsCommand(program: Command, context: CommandContext): void {
  const events = program.command("events").description("everything that happens, as it happens");
  addLeaf(events, "tail", `the newest ${newestShown} events`)
    .option("--after <number>", "all that are kept after this one instead; 0: from the first one on", parseNumber)
    .option("--type <type>", "only this type, such as turn.ended or turn.*")
    .option("--group <name>", "only this group")
    .option("--follow", "wait for more")
    .action(async ({ follow = false, ...query }: Options, command: Command) => {
      const output = context.outputOf(command);
      for await (const event of tail(context, { ...query, last: newestShown }, follow)) show(output, event);
    });
}

/** From the running host; without one, what it has left. */
async function* tail(context: CommandContext, query: EventQuery, follow: boolean): AsyncGenerator<HostEvent> {
  try {
    yield* context.host.tailEvents(query, follow);
    return;
  } catch (error) {
    if (follow || !(error instanceof AppError) || error.code !== "no_host") throw error;
  }
  await using reader = await openEventReader({ path: context.paths.database });
  yield* readEvents(reader, query);
}

function show(output: Output, { seq, at, type, group, session, turn, actor, data }: HostEvent): void {
  const time = new Date(at).toISOString();
  if (output.json) {
    output.object({ seq, time, type, group: group ?? null, session: session ?? null, turn: turn ?? null, actor, data });
    return;
  }
  const whose = group === undefined ? "" : ` ${group}`;
  output.line(`${seq} ${time.slice(0, 19).replace("T", " ")} ${type}${whose} ${actor} ${JSON.stringify(data)}`);
}

function parseNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number.");
}
