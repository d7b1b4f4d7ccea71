import { readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";

import { expect, test } from "vitest";

const checkout = resolve(import.meta.dirname, "..");

/** Files that hold an interface and nothing that acts: what core folders may know of each other. */
const interfaces = [
  "src/stores/store.ts",
  "src/channels/channel.ts",
  "src/models/provider.ts",
  "src/sandbox/engine/engine.ts",
];

/** What a folder may import besides itself and `src/lib`: folders, or single files. */
const allowed: Record<string, readonly string[]> = {
  "src/lib": [],
  "src/domain": [],
  "src/protocol": [],
  "src/config": ["src/domain"],
  "src/channels": ["src/domain", ...interfaces],
  "src/stores": ["src/domain"],
  "src/models": ["src/domain", ...interfaces],
  "src/sandbox/engine": [],
  "src/sandbox/images": [...interfaces],
  "src/sandbox/cgroups": ["src/domain"],
  "src/sandbox/profile": ["src/domain", "src/protocol/paths.ts", ...interfaces],
  "src/sandbox/mounts": ["src/domain", "src/protocol/paths.ts", "src/sandbox/profile"],
  "src/sandbox/workspace": ["src/domain", "src/sandbox/profile"],
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
  "src/sandbox/mailbox": ["src/protocol"],
  "src/sandbox/pool": ["src/domain", "src/protocol/messages.ts", ...interfaces],
  "src/sandbox/egress": ["src/domain", "src/protocol/paths.ts"],
  "src/queue": ["src/domain", ...interfaces],
  "src/policy": ["src/domain", ...interfaces],
  "src/audit": ["src/domain", ...interfaces],
  "src/context": ["src/domain", ...interfaces],
  "src/delivery": ["src/domain", "src/protocol/paths.ts", ...interfaces],
  "src/intake": ["src/domain", "src/protocol/paths.ts", ...interfaces],
  "src/http": [],
  "src/metrics": ["src/domain", ...interfaces],
  "src/operations": ["src/domain", ...interfaces],
  "src/control": ["src/operations/operations.ts", ...interfaces],
  "src/commands": ["src/domain", "src/turns/closing-step.ts", "src/turns/turn-parts.ts", ...interfaces],
  "src/turns": [
    "src/domain",
    "src/protocol",
    "src/context",
    "src/policy",
    "src/sandbox/pool/hot-container.ts",
    ...interfaces,
  ],
  // Commands that work without a running host read what is on disk themselves.
  "src/cli": [
    "src/domain",
    "src/config",
    "src/protocol",
    "src/audit",
    "src/sandbox",
    "src/models/catalog.ts",
    "src/stores/catalog.ts",
    "src/operations/operations.ts",
    "src/host.ts",
    "redteam/suite",
    "redteam/residual-risks.ts",
    ...interfaces,
  ],
  "container/agent": ["src/protocol"],
  // Attacks know what they attack from outside: where it lies, records, the engine, what the protocol calls its folders.
  "redteam/suite": ["src/audit", "src/config/environment.ts", "src/sandbox", "src/protocol"],
  "redteam/cases": ["redteam/suite", "src/protocol"],
  // The wiring: it knows every part, no part knows it.
  "src/wiring": ["src"],
};

/** Outside packages that a folder may import; absent = any. */
const allowedPackages: Record<string, RegExp> = {
  "src/lib": /^(node:|pino)/,
  "src/domain": /^$/,
  "src/protocol": /^(zod$|node:)/,
  "container/agent": /^(zod$|node:)/,
};

interface Import {
  readonly from: string;
  readonly to: string;
}

async function readImports(): Promise<{ files: Import[]; packages: Import[] }> {
  const files: Import[] = [];
  const packages: Import[] = [];
  for await (const file of glob(["src/**/*.ts", "container/**/*.ts", "redteam/**/*.ts"], { cwd: checkout })) {
    const text = readFileSync(join(checkout, file), "utf8");
    for (const [, specifier] of text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)) {
      if (specifier === undefined) continue;
      const isFile = specifier.startsWith(".");
      const to = isFile ? relative(checkout, resolve(checkout, dirname(file), specifier)) : specifier;
      (isFile ? files : packages).push({ from: file, to });
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
    if (folder.endsWith(".ts") || folderOf(to) === folder || folderOf(to) === "src/lib") return false;
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

test("the folders at the bottom use only the packages that they may", () => {
  const violations = packages.filter(({ from, to }) => allowedPackages[folderOf(from)]?.test(to) === false);

  expect(violations).toEqual([]);
});

function isWorker(file: string): boolean {
  return /^src\/channels\/whatsapp\/worker[./]/.test(file);
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
