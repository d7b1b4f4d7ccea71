import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

import { expect, test } from "vitest";

import { reachedFrom } from "../support/static-imports.ts";

const checkout = resolve(import.meta.dirname, "../..");

interface Program {
  /** The file that runs first, and those that it always loads by `import()`. */
  readonly entries: readonly string[];
  /** Rooms whose files are loaded before its first line runs; of abilities and adapters, each folder. */
  readonly rooms: readonly string[];
  readonly packages: readonly string[];
}

const commandLine = {
  rooms: ["src/config", "src/host", "src/lib", "src/surfaces"],
  packages: ["commander", "get-east-asian-width", "picocolors"],
};

/**
 * Files that each program loads at once. What is not configured, or not used yet, is loaded by `import()`, from a
 * catalog.
 * These lists get shorter; whoever makes one longer makes every start slower.
 */
const programs: Readonly<Record<string, Program>> = {
  "crabpot version": {
    entries: ["src/main.ts", "src/surfaces/cli/commands/host/version.ts"],
    rooms: [...commandLine.rooms, "src/sandbox"],
    packages: commandLine.packages,
  },
  "crabpot status": {
    entries: [
      "src/main.ts",
      "src/surfaces/cli/leaves/operation-leaf.ts",
      "src/operations/host/operations.ts",
      "src/surfaces/cli/renderings/status.ts",
    ],
    rooms: [...commandLine.rooms, "src/channels", "src/domain", "src/operations"],
    packages: [...commandLine.packages, "zod"],
  },
  "crabpot start": {
    entries: ["src/main.ts", "src/surfaces/cli/commands/host/start.ts", "src/host/run-host.ts"],
    rooms: [
      ...commandLine.rooms,
      ...[
        "abilities channels delivery domain intake models operations plugins protocol records rights",
        "sandbox stores tools turns work",
      ]
        .join(" ")
        .split(" ")
        .map((room) => `src/${room}`),
      ..."heartbeat jobs mcp media memory packages skills sub-agents tasks web webhooks"
        .split(" ")
        .map((ability) => `src/abilities/${ability}`),
      // Of adapters their definitions, which load the rest.
      "src/channels/http",
      "src/channels/terminal",
      "src/channels/whatsapp",
      "src/models/anthropic",
      "src/models/offline",
      "src/models/openai",
      "src/stores/sqlite",
      "container/agent",
    ],
    packages: [
      ...commandLine.packages,
      ..."diff fastify lru-cache mustache p-queue pino pino-pretty prom-client yaml zod".split(" "),
    ],
  },
  agent: {
    entries: ["container/agent/main.ts"],
    rooms: ["container/agent", "src/protocol"],
    packages: [],
  },
};

/**
 * `src/abilities/tasks/cron.ts` → `src/abilities/tasks`, `src/channels/http/x.ts` → `src/channels/http`,
 * `src/work/queue/queue.ts` → `src/work`.
 */
function roomOf(file: string): string | undefined {
  const [first = "", second = "", third = ""] = dirname(file).split("/");
  const folder = `${first}/${second}/${third}`;
  const isOne = folder.startsWith("src/abilities/") || existsSync(join(checkout, folder, "definition.ts"));
  if (third !== "" && isOne) return folder;
  return second === "" ? undefined : `${first}/${second}`;
}

function waysToRooms(files: ReadonlyMap<string, readonly string[]>): Map<string, readonly string[]> {
  const ways = new Map<string, readonly string[]>();
  for (const [file, way] of files) {
    const room = roomOf(file);
    if (room !== undefined && !ways.has(room)) ways.set(room, way);
  }
  return ways;
}

/** A line for each thing that is reached and not listed: the way that leads to it. */
function violations(ways: ReadonlyMap<string, readonly string[]>, listed: readonly string[]): string[] {
  return [...ways].flatMap(([name, way]) => (listed.includes(name) ? [] : [`${name}: ${way.join(" → ")}`]));
}

test.each(Object.keys(programs))("%s loads at once only what is listed for it", (name) => {
  const { entries = [], rooms = [], packages = [] } = programs[name] ?? {};
  const reached = reachedFrom(entries);

  expect(violations(waysToRooms(reached.files), rooms)).toEqual([]);
  expect(violations(reached.packages, packages)).toEqual([]);
});

test("the lists name nothing that is not loaded any longer", () => {
  const superfluous = Object.entries(programs).flatMap(([name, { entries, rooms, packages }]) => {
    const reached = reachedFrom(entries);
    const ways = waysToRooms(reached.files);
    const unused = [
      ...rooms.filter((room) => !ways.has(room)),
      ...packages.filter((one) => !reached.packages.has(one)),
    ];
    return unused.map((one) => `${name}: ${one}`);
  });

  expect(superfluous).toEqual([]);
});
