import { resolve } from "node:path";

import type { Command } from "commander";

import type { PluginIsolation } from "../../../../domain/sandbox/contained-plugin.ts";
import type { Described } from "../../../../plugins/format/described.ts";
import type { PluginPlan } from "../../../../plugins/install/installer.ts";
import type { ListedPlugin } from "../../../../plugins/plugins.ts";
import type { PluginInstaller } from "../../../../plugins/install/installer.ts";
import { ownCommand } from "../../../../lib/process/own-command.ts";
import { visible } from "../../../../lib/text/visible.ts";
import type { CommandContext } from "../../context.ts";
import { addLeaf } from "../../context.ts";
import type { Column } from "../../../../operations/definition/cli-leaf.ts";
import type { Output } from "../../output.ts";
import { isConfirmed } from "../../confirm.ts";

/** Plugins are files, so none of it needs a running host; one that runs takes changes over when it is started again. */
export function addPluginsCommand(program: Command, context: CommandContext): void {
  const plugins = program.command("plugins").description("list, add, check or remove plugins");
  addList(plugins, context);
  addAdd(plugins, context);
  addCheck(plugins, context);
  addRemove(plugins, context);
}

const columns: readonly Column<ReturnType<typeof view>>[] = [
  { title: "plugin", of: ({ name }) => name },
  { title: "version", of: ({ version }) => version },
  { title: "state", of: ({ state, reason }) => (reason === undefined ? state : `${state}: ${reason}`), fills: true },
  { title: "provides", of: ({ provides }) => provides.map(({ kind, name }) => `${kind} ${name}`).join(", ") },
  { title: "from", of: ({ from }) => from },
];

function view({ name, entry, state, reason }: ListedPlugin) {
  const { package: packageName, version, kinds, hosts, from, sha256, installedAt, provides } = entry;
  const named = provides.map(({ kind, name: called }) => ({ kind, name: called }));
  return {
    name,
    package: packageName,
    version,
    kinds,
    state,
    reason,
    provides: named,
    hosts,
    from,
    sha256,
    installedAt,
  };
}

function addList(plugins: Command, context: CommandContext): void {
  addLeaf(plugins, "list", "list plugins and whether they are unchanged").action(
    async (_options: object, command: Command) => {
      const found = await context.plugins();
      const check = await context.checkConfig();
      await context.configurePlugins(check.ok ? check.loaded.config : { plugins: { isolation: "container" } });
      context.outputOf(command).items((found?.list() ?? []).map(view), columns, "There are no plugins.");
    },
  );
}

/** Looks at plugins, and starts one where it is installed; what it prints goes to stderr. */
interface Installing extends AsyncDisposable {
  readonly installer: PluginInstaller;
  readonly isolation: PluginIsolation;
}

async function startInstalling(context: CommandContext): Promise<Installing> {
  const { paths, environment, streams } = context;
  const said = (line: string): void => void streams.stderr.write(`crabpot: the plugin says: ${visible(line)}\n`);
  const print = (facts: unknown): void => {
    const { said: line } = facts as { readonly said?: string };
    if (line !== undefined) said(line);
  };
  const logger = { info: print, warn: () => undefined, error: print };
  const [{ createPluginInstaller }, { lookInPot }, { bodiesOf }, { readPluginIsolation }] = await Promise.all([
    import("./plugin-installer.ts"),
    import("./look-in-pot.ts"),
    import("../../../../plugins/process/isolation.ts"),
    import("../../../../config/loading/plugin-isolation.ts"),
  ]);
  const isolation = await readPluginIsolation(paths.config);
  const pot = lookInPot(context, { said });
  const start = isolation === "process" ? bodiesOf(isolation, undefined) : pot.start;
  return {
    installer: createPluginInstaller(paths, environment.variables, logger, start),
    isolation,
    [Symbol.asyncDispose]: () => pot[Symbol.asyncDispose](),
  };
}

function addAdd(plugins: Command, context: CommandContext): void {
  addLeaf(plugins, "add <source>", "folder, .tar.gz, or npm package (NAME or NAME@VERSION)")
    .option("--yes", "without asking")
    .action(async (source: string, { yes }: { yes?: boolean }, command: Command) => {
      await using installing = await startInstalling(context);
      const { installer, isolation } = installing;
      const plan = await installer.plan(source);
      const output = context.outputOf(command);
      if (!output.json || yes !== true) showPlan(output, plan, { state: "planned", isolation });
      if (!(await isConfirmed(context, output, yes === true))) return;
      const { provides } = await installer.install(plan);
      const { name } = plan.manifest;
      if (output.json) showPlan(output, plan, { state: "installed", isolation, provides });
      for (const line of describeAll(name, provides)) output.line(line);
      output.line(`Installed: ${name}. Restart a running host to use it.`, "good");
    });
}

function addCheck(plugins: Command, context: CommandContext): void {
  addLeaf(plugins, "check <source>", "show what a plugin is, without loading or installing it").action(
    async (source: string, _options: object, command: Command) => {
      await using installing = await startInstalling(context);
      const { installer, isolation } = installing;
      const plan = await installer.plan(source);
      const output = context.outputOf(command);
      showPlan(output, plan, { state: "planned", isolation });
      output.line("Nothing of it was loaded. What it provides is known when it is added:", "good");
      output.line(`  ${ownCommand(`plugins add ${resolve(source)}`)}`);
    },
  );
}

function addRemove(plugins: Command, context: CommandContext): void {
  addLeaf(plugins, "remove <name>", "remove a plugin with its files")
    .option("--yes", "without asking")
    .action(async (name: string, { yes }: { yes?: boolean }, command: Command) => {
      const output = context.outputOf(command);
      await using installing = await startInstalling(context);
      const { installer } = installing;
      output.line(`The plugin ${await installer.find(name)} will be removed with its files.`);
      if (!(await isConfirmed(context, output, yes === true))) return;
      const removed = await installer.remove(name);
      if (output.json) output.object({ name: removed, state: "removed" });
      output.line(`Removed: ${removed}. A running host keeps it until it is restarted.`);
      const what = "remove its settings in config.yaml, too (`plugins`, `channels` or `models`)";
      output.line(`If it was used, ${what}: run crabpot config check.`);
    });
}

interface Shown {
  readonly state: "planned" | "installed";
  readonly isolation: PluginIsolation;
  readonly provides?: readonly Described[];
}

/** Shows what would be installed: what it is, what it asks for, and what looks odd in it. */
function showPlan(
  output: Output,
  { from, manifest, tree, hosts, findings, replaces, sha256 }: PluginPlan,
  { state, isolation, provides }: Shown,
): void {
  const { name, packageName, version, description, kinds, hosts: named, dependencies } = manifest;
  const files = tree.files.map(({ path }) => path);
  if (output.json) {
    const told = provides?.map(viewOf);
    const facts = { name, package: packageName, version, description, kinds, dependencies, files, findings, replaces };
    const reaches = isolation === "container" ? named : "all";
    return output.object({ ...facts, sha256, isolation, reaches, hosts, provides: told, state, from });
  }
  const takesOver = replaces === undefined ? "is new" : `replaces version ${replaces}`;
  output.line(`${name} ${version} (${kinds.join(", ")}) ${takesOver} (files: ${files.length})`);
  if (description !== "") output.line(`  ${description}`);
  const packages = Object.entries(dependencies).map(([each, wanted]) => visible(`${each}@${wanted}`));
  if (packages.length > 0) output.line(`  needs the packages: ${packages.join(", ")} (their scripts do not run)`);
  if (hosts.length > 0) output.line(`  names hosts: ${hosts.join(", ")}`);
  for (const { kind, where, shows } of findings) output.line(`  ! ${kind} in ${where}: ${shows}`);
  output.line(`  hash of its files: ${sha256}`);
  for (const line of describeWalls(isolation, named)) output.line(`  ${line}`);
}

function describeWalls(isolation: PluginIsolation, hosts: readonly string[]): string[] {
  if (isolation === "process")
    return [
      "! Runs as a process of this user (plugins.isolation is process): Node keeps it from other files and programs;",
      "  nothing keeps it from the network, or from sockets and processes of this user.",
    ];
  const reach = hosts.length === 0 ? "It can reach no host." : `It can reach ${hosts.join(", ")}, and no other host.`;
  return [
    "Runs in its own container: of this machine it sees its own files alone, and can change none.",
    reach,
    "After a yes it is loaded there once, without a network, to say what it provides.",
  ];
}

function viewOf(each: Described): object {
  const settings = Object.keys(each.config?.["properties"] ?? {});
  return each.kind === "tool"
    ? { kind: each.kind, name: each.name, risk: each.risk, sends: each.sends, settings }
    : { kind: each.kind, name: each.name, settings };
}

function describeAll(plugin: string, provides: readonly Described[]): string[] {
  return provides.map((each) => {
    const settings = Object.keys(each.config?.["properties"] ?? {});
    const wants = settings.length === 0 ? "" : `; settings: ${settings.join(", ")}`;
    if (each.kind === "channel") return `  channel ${each.name}: configure it as channels.${each.name}${wants}`;
    if (each.kind === "provider") return `  provider ${each.name}: name it as kind in models.providers${wants}`;
    const sends = each.sends ? ", writes to the chat" : "";
    const where = settings.length === 0 ? "" : ` (plugins.${plugin}.settings)`;
    return `  tool ${each.name}: risk ${each.risk} by its own claim${sends}${wants}${where}`;
  });
}
