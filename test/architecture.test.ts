import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";

import { expect, test } from "vitest";

const checkout = resolve(import.meta.dirname, "..");

/**
 * The floors of the house, the lowest first. A room imports from the rooms below its own floor: never from above, nor
 * from its own floor. `src/main.ts` stands above all of them.
 */
const floors: readonly (readonly string[])[] = [
  ["lib"],
  ["domain", "protocol"],
  ["processes"],
  ["stores"],
  ["channels", "models", "sandbox"],
  ["rights", "delivery", "records"],
  ["intake", "tools", "operations"],
  ["abilities", "turns", "plugins"],
  ["work", "config"],
  ["surfaces"],
  ["host"],
];

/** Programs beside the host, and the paths of the source that each may import; an absent one imports what it likes. */
const programs: Readonly<Record<string, RegExp>> = {
  // Bundled into the image: nothing of the host gets there but the protocol. Text of pages stands in prompts.
  "container/agent": /^src\/(?:protocol\/|lib\/text\/own-elements\.ts$)/,
  "container/reader": /^src\/(?:protocol\/pages\.ts|lib\/text\/own-elements\.ts)$/,
  // Attacks know what they attack from outside: where it lies, its records, the engine, the protocol.
  "redteam/suite":
    /^src\/(?:lib|protocol|records\/audit|sandbox)\/|^src\/(?:config\/environment|domain\/sandbox\/packages)\.ts$/,
  "redteam/cases": /^src\/(?:lib|protocol)\//,
};

/** The parts of other programs that rooms of the host may import: one definition serves both. */
const shared: Readonly<Record<string, RegExp>> = {
  // Tools of the container are defined where they run.
  "src/tools": /^container\/agent\/tools\/(?:catalog|tool)\.ts$/,
  // `crabpot redteam` and `crabpot doctor` play the attacks.
  "src/surfaces": /^redteam\/(?:suite\/|residual-risks\.ts$)/,
};

/** Files by which rooms know adapters. */
const interfaces = [
  "src/stores/contract/session-store.ts",
  "src/stores/contract/store.ts",
  "src/stores/contract/usage-store.ts",
  "src/channels/channel.ts",
  "src/channels/define-channel.ts",
  "src/models/provider.ts",
  "src/models/define-provider.ts",
  "src/sandbox/engine/engine.ts",
];

/** Outside packages that a folder may import; absent = any. */
const allowedPackages: Record<string, RegExp> = {
  "src/lib": /^(node:|pino|get-east-asian-width$|diff$|lru-cache$)/,
  "src/domain": /^$/,
  "src/protocol": /^(zod$|node:)/,
  "src/processes": /^(zod$|pino$|node:)/,
  "container/agent": /^(zod$|node:)/,
};

interface Import {
  readonly from: string;
  readonly to: string;
  /** Loaded when it is needed. */
  readonly isLazy: boolean;
  readonly isType: boolean;
}

async function readImports(): Promise<{ files: Import[]; packages: Import[] }> {
  const files: Import[] = [];
  const packages: Import[] = [];
  for await (const file of glob(["src/**/*.ts", "container/**/*.ts", "redteam/**/*.ts"], { cwd: checkout })) {
    const text = readFileSync(join(checkout, file), "utf8");
    for (const [whole, specifier] of text.matchAll(
      /(?:(?:import|export) type (?:\{[^}]*\}|[^"{}]+) from|(?:from|import))\s*\(?\s*"([^"]+)"/g,
    )) {
      if (specifier === undefined) continue;
      const isFile = specifier.startsWith(".");
      const to = isFile ? relative(checkout, resolve(checkout, dirname(file), specifier)) : specifier;
      const kind = { isLazy: whole.includes("("), isType: /^(?:import|export) type/.test(whole) };
      (isFile ? files : packages).push({ from: file, to, ...kind });
    }
  }
  return { files, packages };
}

const { files, packages } = await readImports();

/** `src/channels/http/x.ts` → `src/channels`; `container/agent/x.ts` → `container/agent`. */
function folderOf(file: string): string {
  return file.split("/").slice(0, 2).join("/");
}

/** Counted from below; infinite for what is no room of the host. */
function floorOf(file: string): number {
  const floor = floors.findIndex((rooms) => rooms.some((room) => folderOf(file) === `src/${room}`));
  return floor < 0 ? Infinity : floor;
}

/** Folders of adapters, such as `src/channels/http`: what has a definition, and each folder of a container engine. */
const adapterFolders = [
  ...new Set(
    globSync(["src/{channels,models,stores}/*/definition.ts", "src/sandbox/engine/*/*.ts"], { cwd: checkout }).map(
      (file) => dirname(file),
    ),
  ),
];

function adapterOf(file: string): string | undefined {
  return adapterFolders.find((folder) => file.startsWith(`${folder}/`));
}

test("each room imports only from the floors below its own", () => {
  const violations = files.filter(({ from, to }) => {
    if (!from.startsWith("src/") || from === "src/main.ts" || folderOf(from) === folderOf(to)) return false;
    return to.startsWith("src/") ? floorOf(to) >= floorOf(from) : shared[folderOf(from)]?.test(to) !== true;
  });

  expect(files.length).toBeGreaterThan(100);
  expect(violations).toEqual([]);
});

test("agent, reader and attacks import of the host only what they share with it", () => {
  const violations = files.filter(
    ({ from, to }) => to.startsWith("src/") && programs[folderOf(from)]?.test(to) === false,
  );

  expect(violations).toEqual([]);
});

test("every room has its floor, and every floor its rooms", () => {
  const entries = readdirSync(join(checkout, "src")).filter((name) => name !== "main.ts");

  expect(floors.flat().toSorted()).toEqual(entries.toSorted());
});

test("an adapter is imported by its catalog only, and adapters do not know each other", () => {
  const violations = files.filter(({ from, to }) => {
    const adapter = adapterOf(to);
    if (adapter === undefined || adapter === adapterOf(from)) return false;
    return from !== join(dirname(adapter), "catalog.ts");
  });

  expect(violations).toEqual([]);
});

/** Allowed imports of an adapter besides itself: nouns, lib, interfaces, and files shared in its room. */
test("an adapter does not know the catalog that lists it, nor anything outside its room but interfaces", () => {
  const violations = files.filter(({ from, to }) => {
    const adapter = adapterOf(from);
    if (adapter === undefined || to.startsWith(`${adapter}/`)) return false;
    const isShared =
      to.startsWith(`${dirname(adapter)}/`) && adapterOf(to) === undefined && !to.endsWith("/catalog.ts");
    return !isShared && !interfaces.includes(to) && !/^src\/(?:lib|domain|processes)\//.test(to);
  });

  expect(violations).toEqual([]);
});

test("a definition imports nothing heavy: only zod, its room's `define…` and other small files", () => {
  const reached = new Set<string>();
  const visit = (file: string): void => {
    if (reached.has(file)) return;
    reached.add(file);
    for (const { to } of files.filter(({ from, isLazy, isType }) => from === file && !isLazy && !isType)) visit(to);
  };
  for (const file of new Set(files.map(({ from }) => from))) if (file.endsWith("/definition.ts")) visit(file);
  const loaded = packages.filter(({ from, isLazy, isType }) => reached.has(from) && !isLazy && !isType);

  expect([...reached].filter((file) => file.endsWith("/definition.ts")).length).toBeGreaterThan(5);
  expect(loaded.map(({ to }) => to).filter((name) => name !== "zod")).toEqual([]);
});

test("each adapter runs the contract suite of its room", () => {
  const contracts: Readonly<Record<string, string>> = { channels: "channel", models: "provider", stores: "store" };
  const missing = adapterFolders
    .flatMap((folder) => {
      const contract = contracts[basename(dirname(folder))];
      return contract === undefined ? [] : [`test/contracts/${contract}-${basename(folder)}.test.ts`];
    })
    .filter((runner) => !existsSync(join(checkout, runner)));

  expect(missing).toEqual([]);
});

test("no adapter's name decides outside its folder", async () => {
  const adapters = adapterFolders
    .filter((folder) => /^src\/(?:channels|models)\//.test(folder))
    .map((folder) => basename(folder));
  const names = adapters.join("|");
  // `type: "http"` is a word of OpenAPI.
  const decides = new RegExp(`(?<!type: )["'\`](?:${names})["'\`]|(?:channels|providers)[?]?[.](?:${names})\\b`);
  const found: string[] = [];
  for await (const file of glob("src/**/*.ts", { cwd: checkout })) {
    if (adapterOf(file) !== undefined) continue;
    const lines = readFileSync(join(checkout, file), "utf8").split("\n");
    const code = lines.filter((line) => !/^\s*(?:[*]|[/][/*])/.test(line));
    found.push(...code.filter((line) => decides.test(line)).map((line) => `${file}: ${line.trim()}`));
  }

  expect(adapters).toContain("terminal");
  expect(found).toEqual([]);
});

test("the folders at the bottom use only the packages that they may", () => {
  const violations = packages.filter(({ from, to }) => allowedPackages[folderOf(from)]?.test(to) === false);

  expect(violations).toEqual([]);
});

/** Files that start programs of others, or a process of ours for a single task, and so do not use the process line. */
const startsPrograms =
  /^src\/(?:lib\/process\/run-fetcher|models\/local\/|sandbox\/|stores\/sqlite\/rewrite\/|records\/erasure\/bytes\/)/;

test("only the process line starts and speaks with processes and threads of ours", () => {
  const violations = packages.filter(
    ({ from, to, isType }) =>
      !isType &&
      /^node:(?:child_process|worker_threads|cluster)$/.test(to) &&
      !from.startsWith("src/processes/") &&
      from.startsWith("src/") &&
      !startsPrograms.test(from),
  );

  expect(violations).toEqual([]);
});

function isWorker(file: string): boolean {
  return /^src\/channels\/whatsapp\/(?:worker\/|process\/worker\.ts$)/.test(file);
}

test("the WhatsApp library, and with it the GPL, is loaded by the worker of its channel only", () => {
  const users = packages.filter(({ to }) => to.startsWith("@whiskeysockets/"));
  const reachWorker = files.filter(({ to }) => isWorker(to));

  expect(users.length).toBeGreaterThan(0);
  expect([...users, ...reachWorker].filter(({ from }) => !isWorker(from))).toEqual([]);
});

/** `src/abilities/web/tools/x.ts` → `web`; undefined outside of abilities. */
function abilityOf(file: string): string | undefined {
  return /^src\/abilities\/([^/]+)\//.exec(file)?.[1];
}

/** Files of an ability that others may know: its operations, and what can be done with its files without a host. */
const publicFiles: readonly string[] = ["operations.ts", "offline.ts"];

test("every ability is closed up: none imports another, and others know only what the catalog lists, operations and offline", () => {
  const foreign = files.filter(({ from, to }) => {
    const ability = abilityOf(to);
    if (ability === undefined || ability === abilityOf(from)) return false;
    if (from === "src/abilities/catalog.ts" && to === `src/abilities/${ability}/ability.ts`) return false;
    const mayKnow = ["src/surfaces", "src/host"].includes(folderOf(from));
    return !(mayKnow && publicFiles.includes(to.slice(`src/abilities/${ability}/`.length)));
  });

  expect(files.some(({ to }) => abilityOf(to) !== undefined)).toBe(true);
  expect(foreign).toEqual([]);
});

/**
 * Size of `src/host`, which only builds. Each number may only get smaller: 15 files, 2,500 lines and no faults are the
 * aim.
 */
const hostLimits = { files: 15, lines: 2_371, throws: 1, publishes: 0 };

test("src/host only builds: it is as small as it was, throws no more errors, and publishes no more events", () => {
  const texts = globSync("src/host/**/*.ts", { cwd: checkout }).map((file) =>
    readFileSync(join(checkout, file), "utf8"),
  );
  const count = (pattern: RegExp): number => texts.reduce((sum, text) => sum + [...text.matchAll(pattern)].length, 0);

  expect(texts.length).toBeLessThanOrEqual(hostLimits.files);
  expect(count(/\n/g)).toBeLessThanOrEqual(hostLimits.lines);
  expect(count(/\bthrow /g)).toBeLessThanOrEqual(hostLimits.throws);
  expect(count(/\bpublish\(/g)).toBeLessThanOrEqual(hostLimits.publishes);
});

test("no file imports itself over others", () => {
  const graph = Map.groupBy(files, ({ from }) => from);
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(" → "));
    if (done.has(file) || path.includes(file)) return;
    for (const { to } of graph.get(file) ?? []) visit(to, [...path, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);

  expect(cycles).toEqual([]);
});

test("no source or test file is longer than 400 lines", async () => {
  const long: string[] = [];
  for await (const file of glob(["{src,container,redteam,bench,test,scripts}/**/*.{ts,py,mjs}"], { cwd: checkout })) {
    const lines = readFileSync(join(checkout, file), "utf8").split("\n").length - 1;
    if (lines > 400) long.push(`${file}: ${lines}`);
  }

  expect(long).toEqual([]);
});

test("no folder of a room has more than 20 entries", () => {
  const folders = globSync("src/*/**/", { cwd: checkout });
  const counts = folders.map((folder) => ({ folder, entries: readdirSync(join(checkout, folder)).length }));

  expect(folders.length).toBeGreaterThan(100);
  expect(counts.filter(({ entries }) => entries > 20)).toEqual([]);
});

test("nobody but the configuration's own room asks it about a group, except by its resolved record", () => {
  const violations = files.filter(
    ({ from, to }) => to.startsWith("src/config/resolve/") && folderOf(from) !== folderOf(to),
  );

  expect(violations).toEqual([]);
});
