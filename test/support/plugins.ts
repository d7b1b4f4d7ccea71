import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";

import type { PluginInstallerOptions } from "../../src/plugins/install/installer.ts";
import { Plugins } from "../../src/plugins/plugins.ts";
import { pluginFolders, type PluginFolders } from "../../src/plugins/places.ts";
import { bodiesOf } from "../../src/plugins/process/isolation.ts";
import { pluginLimits, type PluginLimits } from "../../src/plugins/process/plugin-process.ts";
import { homePaths } from "../../src/config/home/home.ts";
import { type Clock, systemClock } from "../../src/lib/time/clock.ts";
import { pluginNameFault } from "../../src/config/loading/installed-plugins.ts";
import { createPluginInstaller } from "../../src/surfaces/cli/commands/plugins/plugin-installer.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** Plugins of the fixtures. */
export const examplePlugins = resolve(import.meta.dirname, "../fixtures/plugins");

/** Environment for fetching programs. */
const { PATH = "" } = process.env;

/** Plugins installed in their own home, and what is told about them. */
export interface PluginRig extends AsyncDisposable {
  readonly plugins: Plugins;
  readonly places: PluginFolders;
  /** `ended weather 1: …`, `refused weather: …`. */
  readonly news: string[];
  /** Logged output of plugins. */
  readonly said: string[];
}

export interface PluginRigOptions {
  /** Folders to install from. */
  readonly sources: readonly string[];
  /** After installing, before they are opened. */
  readonly before?: (places: PluginFolders) => Promise<void>;
  readonly limits?: Partial<PluginLimits>;
  readonly clock?: Clock;
  readonly variables?: Readonly<Record<string, string>>;
}

interface HomeFile {
  readonly path: string;
  readonly bytes: Buffer;
  readonly mode: number;
}

/**
 * Files of homes in which one plugin of the fixtures was installed: to install it starts a process, which takes longer
 * than what most tests do with it.
 */
const installed = new Map<string, Promise<readonly HomeFile[]>>();

async function readFiles(folder: string): Promise<HomeFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return Promise.all(
    files.map(async (path) => ({
      path: relative(folder, path),
      bytes: await readFile(path),
      mode: (await stat(path)).mode,
    })),
  );
}

async function writeFiles(folder: string, files: readonly HomeFile[]): Promise<void> {
  for (const { path, bytes, mode } of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), bytes, { mode });
  }
}

export async function openPluginRig(options: PluginRigOptions): Promise<PluginRig> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder());
  const paths = homePaths(folder.path);
  const places = pluginFolders(paths);
  const variables = { PATH, HOME: folder.path, ...options.variables };
  const news: string[] = [];
  const said: string[] = [];
  const logger = loggerOf(said);
  const install = async (source: string): Promise<void> => {
    const installer = createPluginInstaller(paths, variables, logger, bodiesOf("process", undefined));
    await installer.install(await installer.plan(source));
  };
  const [first, ...more] = options.sources;
  if (first?.startsWith(examplePlugins) && more.length === 0 && !options.variables) {
    const known = installed.get(first) ?? install(first).then(() => readFiles(folder.path));
    installed.set(first, known);
    await writeFiles(folder.path, await known);
  } else for (const source of options.sources) await install(source);
  await options.before?.(places);
  const { limits, clock = systemClock } = options;
  const opened = { places, variables, clock, nameFault: pluginNameFault, limits: { ...pluginLimits, ...limits } };
  const plugins = stack.use(await Plugins.open(opened));
  plugins.configure({ isolation: "process" });
  await plugins.verify();
  plugins.attach(logger, {
    ended: (plugin, reason, failures) => news.push(`ended ${plugin} ${failures}: ${reason}`),
    refused: (plugin, reason) => news.push(`refused ${plugin}: ${reason}`),
    waits: (plugin, reason) => news.push(`waits ${plugin}: ${reason}`),
  });
  const owned = stack.move();
  return { plugins, places, news, said, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function loggerOf(said: string[]): PluginInstallerOptions["logger"] {
  const note = (facts: unknown, text?: string): void => void said.push(`${text ?? ""} ${JSON.stringify(facts)}`);
  return { info: note, warn: note, error: note } as PluginInstallerOptions["logger"];
}

/** A plugin's folder with these files; `package.json` is made where there is none. */
export async function writePlugin(
  folder: string,
  name: string,
  files: Readonly<Record<string, string>>,
  facts: object = {},
): Promise<string> {
  const place = join(folder, name);
  const manifest = {
    name,
    version: "1.0.0",
    type: "module",
    exports: "./index.js",
    crabpot: { kind: "tool" },
    ...facts,
  };
  for (const [path, text] of Object.entries({ "package.json": JSON.stringify(manifest), ...files })) {
    await mkdir(dirname(join(place, path)), { recursive: true });
    await writeFile(join(place, path), text);
  }
  return place;
}

/** The source of a plugin with one tool, whose `run` is this text. */
export function toolSource(run: string, facts = ""): string {
  return `import { defineTool, ToolError, z } from "crabpot/plugin";
export default defineTool({
  name: "poke", description: "Pokes.", input: z.strictObject({ what: z.string().default("") }), runs: "host",
  risk: "low", timeoutSeconds: 5, ${facts}
  run: async ({ what }, { signal, settings, send }) => { ${run} },
});
`;
}
