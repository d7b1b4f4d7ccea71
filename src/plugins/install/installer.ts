import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";

import { AppError } from "../../lib/app-error.ts";
import { nearest } from "../../lib/text/nearest.ts";
import type { Described } from "../format/described.ts";
import { type Manifest, manifestFile, parseManifest } from "../format/manifest.ts";
import { fetchedPrefix, finishInstalling, incomingFolder, type PluginFolders } from "../places.ts";
import type { StartPluginBody } from "../process/isolation.ts";
import type { PluginProcessOptions } from "../process/plugin-process.ts";
import { askPlugin } from "./ask-plugin.ts";
import { hashOfFolder } from "./hash-folder.ts";
import { type PluginLock, type PluginLockEntry, readPluginLock, withPluginLock, writePluginLock } from "./lock-file.ts";

/** The files of a package, but for the packages that it needs. */
interface Tree {
  readonly files: readonly { readonly path: string; readonly bytes: Buffer; readonly isExecutable: boolean }[];
}

/** A warning about a package, for the person who installs it. */
interface Finding {
  readonly kind: string;
  readonly where: string;
  readonly shows: string;
}

/** Steps shared with the installation of skills. */
export interface InstallSteps {
  /** Brings a source to this machine, into the scratch folder where it is not here already. No code of it runs. */
  readonly fetch: (wanted: string, scratch: string) => Promise<{ readonly from: string; readonly folder: string }>;
  /** All files of a folder but those at its top that are named. Throws why it cannot be used. */
  readonly readTree: (folder: string, leaveOut: ReadonlySet<string>) => Promise<Tree>;
  readonly writeTree: (folder: string, tree: Tree) => Promise<void>;
  readonly scan: (tree: Tree) => readonly Finding[];
  readonly hostsIn: (tree: Tree) => readonly string[];
  /** Runs npm in a folder. */
  readonly npm: (args: readonly string[], folder: string) => Promise<void>;
}

export interface PluginPlan {
  readonly from: string;
  readonly manifest: Manifest;
  readonly tree: Tree;
  /** Hosts that its files name. */
  readonly hosts: readonly string[];
  readonly findings: readonly Finding[];
  /** Hash of its files; without packages that it needs, `plugins.lock` has the same. */
  readonly sha256: string;
  /** The version that is installed under its name. */
  readonly replaces: string | undefined;
}

/** Prepared installation. */
interface Staged {
  readonly sha256: string;
  readonly provides: readonly Described[];
}

export interface PluginInstallerOptions {
  readonly places: PluginFolders;
  readonly steps: InstallSteps;
  readonly now: () => number;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Starts it once, to say what it provides; it has no network then. */
  readonly start: StartPluginBody;
  readonly logger: PluginProcessOptions["logger"];
  /**
   * Returns why a name is unavailable for this kind, as `a tool of crabpot has that name`; undefined when available.
   */
  readonly nameFault: (provided: Described, plugin: string, others: PluginLock) => string | undefined;
}

/** Not part of a plugin. A `.npmrc` could make npm run programs. */
const leaveOut: ReadonlySet<string> = new Set([".git", ".github", "node_modules", ".npmrc", "npm-shrinkwrap.json"]);

/** Options for npm: no code runs, only registry packages, no links. */
const npmOptions = [
  "--ignore-scripts",
  "--omit=dev",
  "--omit=peer",
  "--legacy-peer-deps",
  "--no-bin-links",
  "--install-links",
  "--allow-git=none",
  "--no-audit",
  "--no-fund",
  "--loglevel=error",
];

/**
 * Installs plugins: looks at all of a source before anything is installed, and loads it only when it is installed.
 */
export class PluginInstaller {
  readonly #options: PluginInstallerOptions;

  constructor(options: PluginInstallerOptions) {
    this.#options = options;
  }

  /** Plans an installation; nothing of the package runs. Throws why it is impossible. */
  async plan(wanted: string): Promise<PluginPlan> {
    return this.#inScratch(async (scratch) => {
      const { steps, places } = this.#options;
      const source = await steps.fetch(wanted, scratch);
      const tree = await steps.readTree(await topOf(source.folder, wanted), leaveOut);
      const manifest = manifestOf(tree, wanted);
      const { plugins } = await readPluginLock(places.lock);
      const before = plugins[manifest.name];
      if (before && before.package !== manifest.packageName)
        throw refused(manifest.name, `${before.package} is installed under that name; remove it first`);
      return {
        from: source.from,
        manifest,
        tree,
        hosts: steps.hostsIn(tree),
        findings: steps.scan(tree),
        sha256: await this.#hashOf(tree, join(scratch, "own-files")),
        replaces: before?.version,
      };
    });
  }

  /** Does what was planned: killed at any point, the plugin is the old or the new one. */
  async install(plan: PluginPlan): Promise<PluginLockEntry> {
    const { places, now } = this.#options;
    const { manifest, from } = plan;
    let added: PluginLockEntry | undefined;
    await this.#changing(async (before) => {
      const folder = join(places.installed, incomingFolder, manifest.name);
      await mkdir(join(places.installed, incomingFolder), { recursive: true, mode: 0o700 });
      const { sha256, provides } = await this.#stage(plan, folder, before);
      added = {
        package: manifest.packageName,
        version: manifest.version,
        kinds: [...manifest.kinds],
        hosts: [...manifest.hosts],
        from,
        sha256,
        installedAt: new Date(now()).toISOString(),
        entry: manifest.entry,
        provides: [...provides],
      };
      // From here on it is the new one.
      return { ...before, plugins: { ...before.plugins, [manifest.name]: added } };
    });
    if (!added) throw new Error("nothing was installed");
    return added;
  }

  /** Finds a plugin by its name or package. Throws `not_found`. */
  async find(wanted: string): Promise<string> {
    return nameIn(await readPluginLock(this.#options.places.lock), wanted);
  }

  /** Throws `not_found` for one that is not installed. */
  async remove(wanted: string): Promise<string> {
    const { places } = this.#options;
    let removed = "";
    await this.#changing(async (before) => {
      removed = nameIn(before, wanted);
      const { [removed]: _, ...plugins } = before.plugins;
      return { ...before, plugins };
    });
    await rm(join(places.installed, removed), { recursive: true, force: true });
    return removed;
  }

  async #stage({ manifest, tree }: PluginPlan, folder: string, others: PluginLock): Promise<Staged> {
    const { steps, variables, start, logger, nameFault } = this.#options;
    await rm(folder, { recursive: true, force: true });
    await steps.writeTree(folder, tree);
    if (Object.keys(manifest.dependencies).length > 0) {
      const isLocked = tree.files.some(({ path }) => path === "package-lock.json");
      await steps.npm([isLocked ? "ci" : "install", ...npmOptions], folder);
    }
    const sha256 = await hashOfFolder(folder);
    const { name, entry } = manifest;
    const provides = await askPlugin({ name, folder, entry, variables, start, logger });
    const foreign = provides.find(({ kind }) => !manifest.kinds.includes(kind));
    if (foreign)
      throw refused(
        name,
        `it has the ${foreign.kind} ${foreign.name}, and its package.json does not say that it has any ${foreign.kind}`,
      );
    for (const each of provides) {
      const fault = nameFault(each, name, others);
      if (fault !== undefined) throw refused(name, `its ${each.kind} is called ${each.name}, and ${fault}`);
    }
    return { sha256, provides };
  }

  async #hashOf(tree: Tree, folder: string): Promise<string> {
    await this.#options.steps.writeTree(folder, tree);
    return hashOfFolder(folder);
  }

  async #inScratch<Result>(use: (scratch: string) => Promise<Result>): Promise<Result> {
    const { installed } = this.#options.places;
    const isNew = !existsSync(installed);
    await mkdir(installed, { recursive: true, mode: 0o700 });
    const scratch = await mkdtemp(join(installed, fetchedPrefix));
    try {
      return await use(scratch);
    } finally {
      await rm(scratch, { recursive: true, force: true });
      if (isNew) await rmdir(installed).catch(() => undefined);
    }
  }

  async #changing(change: (before: PluginLock) => Promise<PluginLock>): Promise<void> {
    const { places } = this.#options;
    const { lock, installed } = places;
    const isNew = !existsSync(installed);
    await mkdir(installed, { recursive: true, mode: 0o700 });
    try {
      await withPluginLock(lock, async () => {
        await finishInstalling(places);
        try {
          await writePluginLock(lock, await change(await readPluginLock(lock)));
        } finally {
          await finishInstalling(places);
        }
      });
    } finally {
      if (isNew) await rmdir(installed).catch(() => undefined);
    }
  }
}

/** Archives hold one folder with everything, as a rule. */
async function topOf(folder: string, wanted: string): Promise<string> {
  if (existsSync(join(folder, manifestFile))) return folder;
  const [only, ...others] = await readdir(folder);
  if (only !== undefined && others.length === 0 && existsSync(join(folder, only, manifestFile)))
    return join(folder, only);
  throw new AppError("plugin_refused", `${wanted} is no plugin: there is no ${manifestFile} in it.`);
}

function manifestOf(tree: Tree, wanted: string): Manifest {
  const text = tree.files.find(({ path }) => path === manifestFile)?.bytes.toString("utf8") ?? "";
  const reading = parseManifest(text);
  if (!reading.ok) throw new AppError("plugin_refused", `${wanted} is refused: its ${manifestFile} ${reading.reason}.`);
  const { entry } = reading.manifest;
  if (tree.files.some(({ path }) => path === entry)) return reading.manifest;
  throw new AppError("plugin_refused", `${wanted} is refused: its module ${entry} is not in it.`, {
    fix: 'Build it first, or name the module in package.json: "exports": "./index.js".',
  });
}

function nameIn({ plugins }: PluginLock, wanted: string): string {
  const found = Object.keys(plugins).find((name) => name === wanted || plugins[name]?.package === wanted);
  if (found !== undefined) return found;
  const names = Object.keys(plugins);
  const near = nearest(wanted, names);
  const hint = near === undefined ? `Installed: ${names.join(", ") || "none"}.` : `Did you mean ${near}?`;
  throw new AppError("not_found", `There is no plugin ${JSON.stringify(wanted)}. ${hint}`);
}

function refused(name: string, why: string): AppError {
  return new AppError("plugin_refused", `The plugin ${name} is refused: ${why}.`);
}
