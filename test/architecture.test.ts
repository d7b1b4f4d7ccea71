import { existsSync, readdirSync, readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";

import { expect, test } from "vitest";

const checkout = resolve(import.meta.dirname, "..");

/** Files that hold an interface and nothing that acts: what core folders may know of each other. */
const interfaces = [
  "src/stores/session-store.ts",
  "src/stores/store.ts",
  "src/stores/usage-store.ts",
  "src/channels/channel.ts",
  "src/channels/define-channel.ts",
  "src/events/event.ts",
  "src/models/provider.ts",
  "src/models/define-provider.ts",
  "src/sandbox/engine/engine.ts",
];

/** Host and agent share what these hold, and the agent is bundled into the image: nothing of the host's gets there. */
const withoutLib: ReadonlySet<string> = new Set(["src/protocol", "container/agent"]);

/** What a folder may import besides itself and (but for those above) `src/lib`: folders, or single files. */
const allowed: Record<string, readonly string[]> = {
  "src/lib": [],
  "src/domain": [],
  "src/protocol": [],
  // What can be configured is put together from the definitions of what there is; policies name tools. A budget is judged by
  // what a call has and reserves.
  "src/config": [
    "src/domain",
    "src/channels/catalog.ts",
    "src/models/catalog.ts",
    "src/models/budget.ts",
    "src/models/capabilities.ts",
    "src/models/routes.ts",
    "src/tools/catalog.ts",
    "src/tools/registry.ts",
    "src/context/prompt",
    "src/context/time-zone.ts",
    "src/context/tokens.ts",
    ...interfaces,
  ],
  "src/channels": ["src/domain", ...interfaces],
  "src/stores": ["src/domain", "src/events/event.ts"],
  // Pictures are made small before they are kept.
  "src/blobs": [
    "src/domain",
    "src/media/media.ts",
    "src/media/operations.ts",
    "src/stores/blob-store.ts",
    "src/protocol/paths.ts",
    ...interfaces,
  ],
  "src/events": ["src/domain", ...interfaces],
  "src/session-logs": ["src/domain", ...interfaces],
  "src/models": ["src/domain", ...interfaces],
  "src/sandbox/engine": [],
  "src/sandbox/images": ["src/domain", "src/sandbox/engine/image-builder.ts", ...interfaces],
  "src/sandbox/cgroups": ["src/domain"],
  "src/sandbox/profile": ["src/domain", "src/protocol/paths.ts", ...interfaces],
  "src/sandbox/mounts": ["src/domain", "src/protocol/paths.ts", "src/sandbox/profile"],
  "src/sandbox/workspace": ["src/domain", "src/sandbox/profile", ...interfaces],
  "src/sandbox/attestation": [
    "src/protocol/messages.ts",
    "src/protocol/paths.ts",
    "src/sandbox/cgroups",
    "src/sandbox/mounts",
    "src/sandbox/profile",
    ...interfaces,
  ],
  "src/sandbox/launch": [
    "src/domain",
    "src/protocol/messages.ts",
    "src/protocol/paths.ts",
    "src/sandbox/attestation",
    "src/sandbox/cgroups",
    "src/sandbox/mounts",
    "src/sandbox/profile",
    ...interfaces,
  ],
  "src/sandbox/servers": [
    "src/domain",
    "src/mcp/server-streams.ts",
    "src/protocol/messages.ts",
    "src/protocol/paths.ts",
    "src/sandbox/launch",
    "src/sandbox/profile",
    ...interfaces,
  ],
  "src/sandbox/mailbox": ["src/protocol"],
  "src/sandbox/pool": ["src/domain", "src/protocol/messages.ts", ...interfaces],
  "src/sandbox/egress": ["src/domain", "src/events/event.ts", "src/protocol/paths.ts"],
  "src/scheduler": ["src/domain", "src/stores/task-store.ts", ...interfaces],
  "src/sessions": ["src/domain", ...interfaces],
  "src/queue": ["src/domain", ...interfaces],
  // A command line is judged by where things lie in a container.
  "src/policy": ["src/domain", "src/protocol/paths.ts", "src/protocol/tools.ts", ...interfaces],
  "src/approvals": ["src/domain", ...interfaces],
  "src/jobs": ["src/domain", ...interfaces],
  "src/sub-agents": [
    "src/domain",
    "src/context",
    "src/protocol/paths.ts",
    "src/protocol/tools.ts",
    "src/stores/sub-agent-store.ts",
    ...interfaces,
  ],
  // What the container's tools are is written where they run.
  "src/tools": [
    "src/domain",
    "src/policy",
    "src/protocol",
    "container/agent/tools/catalog.ts",
    "container/agent/tools/tool.ts",
    ...interfaces,
  ],
  "src/audit": ["src/domain", "src/session-logs/log-names.ts", ...interfaces],
  "src/context": ["src/domain", ...interfaces],
  "src/local-models": [],
  "src/media": ["src/domain", "src/local-models", ...interfaces],
  "src/memory": ["src/domain", "src/local-models", ...interfaces],
  "src/skills": [
    "src/domain",
    "src/context/own-elements.ts",
    "src/protocol/paths.ts",
    "src/protocol/tools.ts",
    ...interfaces,
  ],
  "src/mcp": [
    "src/domain",
    "src/context/own-elements.ts",
    "src/protocol/tools.ts",
    "src/tools/define-tool.ts",
    ...interfaces,
  ],
  "src/web": ["src/domain", "src/context/own-elements.ts", "src/protocol/tools.ts", ...interfaces],
  "src/delivery": ["src/domain", "src/protocol/paths.ts", ...interfaces],
  "src/people": ["src/domain", ...interfaces],
  "src/erasure": ["src/domain", "src/stores/erasure-store.ts", "src/stores/event-store.ts", ...interfaces],
  "src/intake": ["src/domain", "src/people", "src/protocol/paths.ts", ...interfaces],
  "src/http": [],
  "src/metrics": ["src/domain", ...interfaces],
  "src/operations": ["src/domain", "src/events", ...interfaces],
  "src/control": ["src/operations/operations.ts", ...interfaces],
  "src/heartbeat": ["src/domain", ...interfaces],
  "src/hooks": ["src/domain", ...interfaces],
  "src/commands": [
    "src/domain",
    "src/approvals",
    "src/people",
    "src/intake/addressing/mention.ts",
    "src/turns/closing-step.ts",
    "src/turns/turn-options.ts",
    ...interfaces,
  ],
  "src/turns": [
    "src/people/roles.ts",
    "src/domain",
    "src/approvals",
    "src/protocol",
    "src/context",
    "src/sandbox/pool/hot-container.ts",
    "src/tools",
    ...interfaces,
  ],
  // Commands that work without a running host read what is on disk themselves.
  "src/cli": [
    "src/domain",
    "src/config",
    "src/protocol",
    "src/audit",
    "src/events",
    "src/session-logs",
    "src/sandbox",
    "src/models/catalog.ts",
    "src/models/capabilities.ts",
    "src/models/routes.ts",
    "src/policy",
    "src/tools",
    "src/approvals/card.ts",
    "src/stores/catalog.ts",
    "src/media/media.ts",
    "src/media/speech",
    "src/memory",
    "src/mcp",
    "src/skills",
    "src/mcp/packages/server-packages.ts",
    "src/operations/operations.ts",
    "src/plugins",
    "src/web",
    "src/wiring/stopped-host.ts",
    "src/wiring/stopped-images.ts",
    "src/wiring/plugins/installed-plugins.ts",
    "src/wiring/plugins/plugin-installer.ts",
    "src/wiring/erasure/erase-offline.ts",
    "src/host.ts",
    "redteam/suite",
    "redteam/residual-risks.ts",
    ...interfaces,
  ],
  // What it reads of pages and documents stands in prompts.
  "container/agent": ["src/protocol", "src/context/own-elements.ts"],
  // A process of its own, so that the agent loads none of it. What it prints stands in prompts.
  "container/reader": ["src/protocol/pages.ts", "src/context/own-elements.ts"],
  // Attacks know what they attack from outside: where it lies, records, the engine, what the protocol calls its folders.
  "redteam/suite": ["src/audit", "src/config/environment.ts", "src/domain/packages.ts", "src/sandbox", "src/protocol"],
  "redteam/cases": ["redteam/suite", "src/protocol"],
  // The wiring: it knows every part, no part knows it.
  "src/wiring": ["src"],
  // What code from outside may use, and the processes in which it runs: there a channel is opened as the host opens its own.
  "src/plugins": [
    "src/domain",
    "src/protocol/tools.ts",
    "src/tools/define-tool.ts",
    "src/channels/unconnected.ts",
    ...interfaces,
  ],
};

/** Outside packages that a folder may import; absent = any. */
const allowedPackages: Record<string, RegExp> = {
  "src/lib": /^(node:|pino|get-east-asian-width$)/,
  "src/domain": /^$/,
  "src/protocol": /^(zod$|node:)/,
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

/** `src/channels/http/x.ts` → `src/channels`; `src/sandbox/pool/x.ts` → `src/sandbox/pool`; `src/wiring/host.ts` → `src/wiring/host.ts`. */
function folderOf(file: string): string {
  const depth = file.startsWith("src/sandbox/") ? 3 : 2;
  return file.split("/").slice(0, depth).join("/");
}

/** `src/channels/http/x.ts` → `src/channels/http`, for folders whose adapters are folders. */
function adapterOf(file: string): string | undefined {
  return /^src\/(?:channels|models|stores|sandbox\/engine)\/[^/]+(?=\/)/.exec(file)?.[0];
}

test("each folder imports only what the layer table allows", () => {
  const violations = files.filter(({ from, to }) => {
    const folder = folderOf(from);
    if (folder.endsWith(".ts") || folderOf(to) === folder) return false;
    if (folderOf(to) === "src/lib" && !withoutLib.has(folder)) return false;
    return !allowed[folder]?.some((entry) => to === entry || to.startsWith(`${entry}/`));
  });

  expect(violations).toEqual([]);
});

test("every folder of the source has a row in the layer table, and every row has a folder", () => {
  const folders = new Set(
    [...files, ...packages].map(({ from }) => folderOf(from)).filter((folder) => !folder.endsWith(".ts")),
  );

  expect([...folders].filter((folder) => !(folder in allowed))).toEqual([]);
  expect(files.length).toBeGreaterThan(100);
});

test("an adapter is imported by its catalog only, and adapters do not know each other", () => {
  const violations = files.filter(({ from, to }) => {
    const adapter = adapterOf(to);
    if (adapter === undefined || adapter === adapterOf(from)) return false;
    return from !== join(dirname(adapter), "catalog.ts");
  });

  expect(violations).toEqual([]);
});

/** What an adapter may know besides itself: the nouns, words without meaning here, interfaces, and what its room shares. */
test("an adapter does not know the catalog that lists it, nor anything outside its room but interfaces", () => {
  const violations = files.filter(({ from, to }) => {
    const adapter = adapterOf(from);
    if (adapter === undefined || to.startsWith(`${adapter}/`)) return false;
    const isShared = dirname(to) === dirname(adapter) && !to.endsWith("/catalog.ts");
    return !isShared && !interfaces.includes(to) && !/^src\/(?:lib|domain)\//.test(to);
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
  const rooms = { channels: "channel", models: "provider", stores: "store" };
  const missing = Object.entries(rooms).flatMap(([room, contract]) =>
    readdirSync(join(checkout, "src", room), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `test/contracts/${contract}-${name}.test.ts`)
      .filter((runner) => !existsSync(join(checkout, runner))),
  );

  expect(missing).toEqual([]);
});

test("no adapter's name decides outside its folder", async () => {
  const adapters = ["channels", "models"].flatMap((room) =>
    readdirSync(join(checkout, "src", room), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name),
  );
  const names = adapters.join("|");
  const decides = new RegExp(`["'\`](?:${names})["'\`]|(?:channels|providers)[?]?[.](?:${names})\\b`);
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

function isWorker(file: string): boolean {
  return /^src\/channels\/whatsapp\/(?:worker\/|process\/worker\.ts$)/.test(file);
}

test("the WhatsApp library, and with it the GPL, is loaded by the worker of its channel only", () => {
  const users = packages.filter(({ to }) => to.startsWith("@whiskeysockets/"));
  const reachWorker = files.filter(({ to }) => isWorker(to));

  expect(users.length).toBeGreaterThan(0);
  expect([...users, ...reachWorker].filter(({ from }) => !isWorker(from))).toEqual([]);
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
