import { InvalidArgumentError } from "commander";
import type { Command } from "commander";

import type { HostEvent } from "../../../../domain/events/event.ts";
import { viewEvent } from "../../../../records/events/event-view.ts";
import { readEvents } from "../../../../records/events/read-events.ts";
import type { EventQuery } from "../../../../records/events/read-events.ts";
import { AppError } from "../../../../lib/app-error.ts";
import { openEventReader } from "../../../../stores/catalog.ts";
import type { Delta, MissedDeltas } from "../../../../domain/chats/delta.ts";
import { tailEvents, type ToldDelta } from "../../../../operations/events/operations.ts";
import type { CommandContext } from "../../context.ts";
import { addLeaf } from "../../context.ts";
import type { Output } from "../../output.ts";

const newestShown = 20;

interface Options {
  readonly after?: number;
  readonly type?: string;
  readonly group?: string;
  readonly follow?: boolean;
  readonly deltas?: boolean;
}

export function addEventsCommand(program: Command, context: CommandContext): void {
  const events = program.command("events").description("show events as they happen");
  addLeaf(events, "tail", `the newest ${newestShown} events`)
    .option("--after <number>", "all events after this number; 0: from the first one on", parseNumber)
    .option("--type <type>", "only this type, such as turn.ended or turn.*")
    .option("--group <name>", "only this group")
    .option("--follow", "wait for more")
    .option("--deltas", "with --follow: also live output of turns")
    .action(async ({ follow = false, deltas = false, ...query }: Options, command: Command) => {
      const output = context.outputOf(command);
      if (deltas && !follow) throw new AppError("usage", "--deltas needs --follow: live output is not stored.");
      for await (const told of tail(context, { ...query, last: newestShown }, { follow, deltas })) {
        if ("delta" in told) showDelta(output, told.delta);
        else show(output, told);
      }
    });
}

/** From the running host; without one, what it has left. */
async function* tail(
  context: CommandContext,
  query: EventQuery,
  more: { readonly follow: boolean; readonly deltas: boolean },
): AsyncGenerator<HostEvent | ToldDelta> {
  try {
    yield* context.host.follow(tailEvents, { ...query, ...more });
    return;
  } catch (error) {
    if (more.follow || !(error instanceof AppError) || error.code !== "no_host") throw error;
  }
  await using reader = await openEventReader({ path: context.paths.database });
  yield* readEvents(reader, query);
}

function show(output: Output, event: HostEvent): void {
  if (output.json) return output.object(viewEvent(event));
  const { seq, at, type, group, actor, data } = event;
  const time = new Date(at).toISOString();
  const whose = group === undefined ? "" : ` ${group}`;
  output.line(`${seq} ${time.slice(0, 19).replace("T", " ")} ${type}${whose} ${actor} ${JSON.stringify(data)}`);
}

function showDelta(output: Output, delta: Delta | MissedDeltas): void {
  if (output.json) return output.object({ delta });
  if (delta.type === "missed") return output.line("  … (some was missed)");
  const said = "text" in delta ? ` ${JSON.stringify(delta.text)}` : "";
  const tool = delta.type === "output" ? ` of ${delta.tool}` : "";
  output.line(`  ${delta.group} ${delta.type}${tool}${said}`);
}

function parseNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number.");
}
