import { Command, CommanderError } from "commander";

import { AppError, toError } from "../../lib/app-error.ts";
import { visibleLines } from "../../lib/text/visible.ts";
import type { Environment } from "../../config/environment.ts";
import { lookAtHome } from "../../config/home/home.ts";
import { CommandContext } from "./context.ts";
import type { CommandStreams } from "./context.ts";
import type { HostFunctions } from "./host-functions.ts";
import { families } from "../operations.ts";

type AddCommand = (parent: Command, context: CommandContext) => void;

interface Entry {
  /** Absent: that of the family of operations of the same name. */
  readonly summary?: string;
  readonly load: () => Promise<AddCommand>;
}

/**
 * Commands that are written by hand: they are no operation, or do more than one. Only the one that is asked for is
 * loaded.
 */
const entries: Readonly<Record<string, Entry>> = {
  start: { summary: "run the host", load: async () => (await import("./commands/host/start.ts")).addStartCommand },
  stop: { load: async () => (await import("./commands/host/stop.ts")).addStopCommand },
  doctor: {
    summary: "check the installation",
    load: async () => (await import("./commands/doctor/doctor.ts")).addDoctorCommand,
  },
  profiles: {
    summary: "list profiles of agents",
    load: async () => (await import("./commands/agents/profiles.ts")).addProfilesCommand,
  },
  prompts: {
    summary: "list the sections of the system prompt",
    load: async () => (await import("./commands/agents/prompts.ts")).addPromptsCommand,
  },
  tools: {
    summary: "list the tools of agents",
    load: async () => (await import("./commands/agents/tools.ts")).addToolsCommand,
  },
  memory: { load: async () => (await import("./commands/memory/memory.ts")).addMemoryCommand },
  media: {
    summary: "install the model for voice messages",
    load: async () => (await import("./commands/agents/media.ts")).addMediaCommand,
  },
  plugins: {
    summary: "list, add, check or remove plugins: tools, channels and providers of others",
    load: async () => (await import("./commands/plugins/plugins.ts")).addPluginsCommand,
  },
  mcp: { load: async () => (await import("./commands/mcp/mcp.ts")).addMcpCommand },
  web: {
    summary: "web access of agents",
    load: async () => (await import("./commands/agents/web.ts")).addWebCommand,
  },
  logs: { summary: "show the log", load: async () => (await import("./commands/host/logs.ts")).addLogsCommand },
  audit: {
    summary: "verify, show or report the audit log",
    load: async () => (await import("./commands/audit/audit.ts")).addAuditCommand,
  },
  redteam: {
    summary: "attack a throwaway host to check the sandbox",
    load: async () => (await import("./commands/redteam.ts")).addRedteamCommand,
  },
  version: {
    summary: "show the versions of crabpot, Node.js and the engine",
    load: async () => (await import("./commands/host/version.ts")).addVersionCommand,
  },
};

/** Commands that are written by hand, beside those of a family of operations. */
const besideOperations: Readonly<Record<string, Entry["load"]>> = {
  config: async () => (await import("./commands/config/config.ts")).addConfigCommands,
  skills: async () => (await import("./commands/skills/skills.ts")).addSkillCommands,
  policy: async () => (await import("./commands/policy/policy.ts")).addPolicyCommands,
};

const operationFamilies: Readonly<Record<string, (typeof families)[keyof typeof families]>> = families;

/** Every command by its first word, with what it does. */
export const commandSummaries: readonly (readonly [string, string])[] = [
  ...new Set([...Object.keys(entries), ...Object.keys(families)]),
]
  .toSorted()
  .map((name) => [name, entries[name]?.summary ?? operationFamilies[name]?.summary ?? ""]);

/** Commands that say nothing of a home. */
const withoutHome: ReadonlySet<string> = new Set(["version", "redteam"]);

interface CommandLineOptions {
  readonly environment: Environment;
  readonly streams: CommandStreams;
  readonly hostFunctions: HostFunctions;
}

/**
 * Runs one command line and resolves with its exit code; never rejects. Faults are told on stderr in one or two lines.
 */
export async function runCommandLine(
  args: readonly string[],
  { environment, streams, hostFunctions }: CommandLineOptions,
): Promise<number> {
  const context = new CommandContext(environment, streams, hostFunctions, () => import("./offline/invoke-here.ts"));
  try {
    const words = args[0] === "--version" ? ["version", ...args.slice(1)] : args;
    const program = await createProgram(words, context);
    await program.parseAsync([...words], { from: "user" });
    return context.exitCode;
  } catch (thrown) {
    // The library has already said what is wrong with the command line.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : 2;
    return report(toError(thrown), streams);
  } finally {
    await context[Symbol.asyncDispose]();
  }
}

async function createProgram(args: readonly string[], context: CommandContext): Promise<Command> {
  const { stdout, stderr } = context.streams;
  const program = new Command("crabpot")
    .description("An AI agent for each of your chat groups, each in a container that it cannot climb out of.")
    .option("--json", "print one JSON object per line")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      // Errors repeat what was typed, or what a script took from elsewhere.
      outputError: (text, write) => write(visibleLines(text)),
      getOutHasColors: () => stdout.isTTY === true,
      getErrHasColors: () => stderr.isTTY === true,
    });
  program.hook("preAction", async (_, command) => {
    if (!withoutHome.has(command.name())) await lookAtHome(context.paths.root);
  });
  const wanted = args.find((word) => !word.startsWith("-"));
  for (const [name, summary] of commandSummaries) {
    const isWanted = name === wanted || (wanted === "help" && args.includes(name));
    if (isWanted && entries[name]) (await entries[name].load())(program, context);
    else if (isWanted) await addFamily(program.command(name).description(summary), context);
    else program.command(name).description(summary);
  }
  return program;
}

/** Adds the commands of a family of operations, and those beside them. */
async function addFamily(family: Command, context: CommandContext): Promise<void> {
  const [{ addOperationLeaves }, operations = [], addBeside] = await Promise.all([
    import("./leaves/operation-leaf.ts"),
    operationFamilies[family.name()]?.load(),
    besideOperations[family.name()]?.(),
  ]);
  for (const operation of operations) addOperationLeaves(family, context, operation);
  addBeside?.(family, context);
}

function report(error: Error, { stderr }: CommandStreams): number {
  const fix = error instanceof AppError ? error.fix : undefined;
  stderr.write(`crabpot: ${visibleLines(error.message)}\n`);
  if (fix !== undefined) stderr.write(`  fix: ${visibleLines(fix)}\n`);
  return error instanceof AppError ? error.exitCode : 1;
}
