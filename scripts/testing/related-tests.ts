import { readFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";

import { build } from "esbuild";

/** Set-up of test runs, which concerns all tests. */
const ofAllTests = [
  "vitest.config.ts",
  "test/support/temporary-in-memory.ts",
  "test/support/build-first.ts",
  "test/support/built-module.ts",
  "test/support/no-leaks.ts",
];
/** Starting points of agents use an image made from the whole folder. */
const madeFrom: Readonly<Record<string, string>> = { "src/sandbox/images/agent-image.ts": "container" };
const isModule = /\.[cm]?[jt]s$/;
const isTest = /^test\/(?!model\/).*\.test\.ts$/;

type Edges = ReadonlyMap<string, ReadonlySet<string>>;

/** The part of a checkout that tests are chosen from. */
export interface Sources {
  readonly folder: string;
  /** All files that belong to it, as paths in the folder. */
  readonly files: readonly string[];
}

interface NamingText {
  readonly path: string;
  readonly text: string;
  readonly byName: ReadonlyMap<string, readonly string[]>;
  readonly files: readonly string[];
}

/**
 * Returns the test files that a change of these files can break, or `undefined` where that can be any: those which
 * import a file, or from which one is reached by imports and by names of files and folders in texts, as a program that
 * is started has. What is no module, such as a prompt or a document, may be read by any test.
 */
export async function relatedTests(sources: Sources, changed: readonly string[]): Promise<string[] | undefined> {
  const { imports, atOnce } = await importsOf(sources);
  const ofAll = reachedFrom(ofAllTests, atOnce);
  if (changed.some((path) => !isModule.test(path) || ofAll.has(path))) return undefined;
  const users = new Map<string, Set<string>>();
  for (const edges of [imports, await namesIn(sources)]) {
    for (const [path, used] of edges) for (const one of used) users.set(one, (users.get(one) ?? new Set()).add(path));
  }
  return [...reachedFrom(changed, users)].filter((path) => isTest.test(path)).toSorted();
}

/** Imports of each module: all of them, and those evaluated on load. */
async function importsOf({ folder, files }: Sources): Promise<Readonly<Record<"imports" | "atOnce", Edges>>> {
  const modules = files.filter((path) => isModule.test(path));
  const { exports } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as { exports?: object };
  const own = Object.entries(exports ?? {}).map(([name, path]) => [
    join("crabpot", name),
    resolve(folder, String(path)),
  ]);
  const { metafile } = await build({
    absWorkingDir: folder,
    stdin: { contents: modules.map((path) => `import "./${path}";`).join("\n"), resolveDir: folder },
    bundle: true,
    metafile: true,
    write: false,
    outdir: "nowhere",
    platform: "node",
    format: "esm",
    packages: "external",
    alias: Object.fromEntries(own) as Record<string, string>,
    logLevel: "error",
  });
  const edges = (isMeant: (kind: string) => boolean): Edges =>
    new Map(
      Object.entries(metafile.inputs).map(([path, { imports }]) => [
        path,
        new Set(imports.filter(({ kind }) => isMeant(kind)).map((one) => one.path)),
      ]),
    );
  return { imports: edges(() => true), atOnce: edges((kind) => kind !== "dynamic-import") };
}

/** Files that each file names in its texts, which may be programs that it starts. */
async function namesIn(sources: Sources): Promise<Edges> {
  const byName = Map.groupBy(sources.files, (path) => path.slice(path.lastIndexOf("/") + 1));
  const edges = new Map<string, Set<string>>();
  for (const path of sources.files.filter((one) => isModule.test(one) || /^scripts\/[^.]*$/.test(one))) {
    const named = new Set<string>();
    const source = (await readFile(join(sources.folder, path), "utf8"))
      .replaceAll("$checkout/", "")
      .replaceAll(/\b(from|import) "[^"]*"/g, "");
    for (const [, text = ""] of source.matchAll(/\bownModule\("([\w-]+)"/g))
      named.add(join(dirname(path), `${text}.ts`));
    for (const [, text = ""] of source.matchAll(/["'`]([^"'`$\s]+)["'`]/g)) {
      // The product starts nothing but neighbors; it names other files in what it says.
      if (!/^(src|container)\//.test(path)) addNamed(named, { path, text, byName, files: sources.files });
    }
    if (path in madeFrom) addFolder(named, String(madeFrom[path]), sources.files);
    edges.set(path, named);
  }
  return edges;
}

/**
 * A text names a file by its path from where the text stands, or by the end of its path; and a folder in the same way,
 * in tests only.
 */
function addNamed(named: Set<string>, { path, text, byName, files }: NamingText): void {
  // The way up to a folder is only the beginning of a name.
  if (/^[./]*$/.test(text)) return;
  const isFromHere = text.startsWith(".");
  const name = (isFromHere ? join(dirname(path), text) : text).replace(/^\/+|\/$/g, "");
  for (const one of byName.get(name.slice(name.lastIndexOf("/") + 1)) ?? []) {
    if (one === name || (!isFromHere && /[./]/.test(name) && one.endsWith(`/${name}`))) named.add(one);
  }
  // A single word may well mean something else.
  if (name.includes("/") ? path.startsWith("test/") : isTest.test(path)) addFolder(named, name, files);
}

function addFolder(named: Set<string>, name: string, files: readonly string[]): void {
  const end = name.includes("/") ? `/${name}/` : undefined;
  for (const path of files)
    if (path.startsWith(`${name}/`) || (end !== undefined && path.includes(end))) named.add(path);
}

function reachedFrom(start: readonly string[], edges: Edges): ReadonlySet<string> {
  const reached = new Set(start);
  // A set gives what is added to it while it is gone through.
  for (const path of reached) for (const next of edges.get(path) ?? []) reached.add(next);
  return reached;
}

/** Path in the checkout as git has it; `undefined` when missing. */
export function pathIn({ folder, files }: Sources, from: string, word: string): string | undefined {
  const path = relative(folder, resolve(from, word));
  return files.includes(path) ? path : undefined;
}
