import { Command, CommanderError } from "commander";

import { AppError, toError } from "../../lib/app-error.ts";
import { visibleLines } from "../../lib/text/visible.ts";
import type { Environment } from "../../config/environment.ts";
import { CommandContext } from "./context.ts";
import type { CommandStreams } from "./context.ts";
import type { HostFunctions } from "./host-functions.ts";

type AddCommand = (program: Command, context: CommandContext) => void;

interface Entry {
  readonly summary: string;
  readonly load: () => Promise<AddCommand>;
}

/** Every command. Only the one that is asked for is loaded. */
const entries: Readonly<Record<string, Entry>> = {
  start: { summary: "run the host", load: async () => (await import("./commands/start.ts")).addStartCommand },
  stop: { summary: "stop the running host", load: async () => (await import("./commands/stop.ts")).addStopCommand },
  reload: {
    summary: "make the running host read its configuration again",
    load: async () => (await import("./commands/config.ts")).addReloadCommand,
  },
  status: {
    summary: "how the running host is doing",
    load: async () => (await import("./commands/status.ts")).addStatusCommand,
  },
  doctor: {
    summary: "check the installation",
    load: async () => (await import("./commands/doctor.ts")).addDoctorCommand,
  },
  groups: {
    summary: "list, add, change or remove groups",
    load: async () => (await import("./commands/groups.ts")).addGroupsCommand,
  },
  chats: { summary: "chats that were seen", load: async () => (await import("./commands/chats.ts")).addChatsCommand },
  people: {
    summary: "who is known, and what they may",
    load: async () => (await import("./commands/people.ts")).addPeopleCommand,
  },
  pairing: {
    summary: "people who write directly",
    load: async () => (await import("./commands/pairing.ts")).addPairingCommand,
  },
  mounts: {
    summary: "check a group's mounts",
    load: async () => (await import("./commands/mounts.ts")).addMountsCommand,
  },
  image: {
    summary: "images with packages of groups: build, list, prune",
    load: async () => (await import("./commands/image.ts")).addImageCommand,
  },
  sessions: {
    summary: "list sessions, stop containers",
    load: async () => (await import("./commands/sessions.ts")).addSessionsCommand,
  },
  context: {
    summary: "what stands in the prompts of conversations",
    load: async () => (await import("./commands/context.ts")).addContextCommand,
  },
  profiles: {
    summary: "profiles of agents",
    load: async () => (await import("./commands/profiles.ts")).addProfilesCommand,
  },
  prompts: {
    summary: "the sections of the system prompt",
    load: async () => (await import("./commands/prompts.ts")).addPromptsCommand,
  },
  tools: {
    summary: "which tools agents have",
    load: async () => (await import("./commands/tools.ts")).addToolsCommand,
  },
  policy: {
    summary: "which tool calls are allowed, and why",
    load: async () => (await import("./commands/policy.ts")).addPolicyCommand,
  },
  turns: {
    summary: "list, show or retry turns",
    load: async () => (await import("./commands/turns.ts")).addTurnsCommand,
  },
  tasks: {
    summary: "have agents do something at certain times",
    load: async () => (await import("./commands/tasks.ts")).addTasksCommand,
  },
  work: {
    summary: "give agents something to do",
    load: async () => (await import("./commands/work.ts")).addWorkCommand,
  },
  hooks: {
    summary: "webhooks of other programs",
    load: async () => (await import("./commands/hooks.ts")).addHooksCommand,
  },
  jobs: {
    summary: "background jobs of agents",
    load: async () => (await import("./commands/jobs.ts")).addJobsCommand,
  },
  agents: {
    summary: "sub-agents: list, show or cancel them",
    load: async () => (await import("./commands/agents.ts")).addAgentsCommand,
  },
  approvals: {
    summary: "answer for tool calls that wait for people",
    load: async () => (await import("./commands/approvals.ts")).addApprovalsCommand,
  },
  memory: {
    summary: "what groups remember",
    load: async () => (await import("./commands/memory.ts")).addMemoryCommand,
  },
  media: {
    summary: "pictures and voice messages: install the model that hears",
    load: async () => (await import("./commands/media.ts")).addMediaCommand,
  },
  skills: {
    summary: "what agents can read up on: list, install, check or write skills",
    load: async () => (await import("./commands/skills.ts")).addSkillsCommand,
  },
  plugins: {
    summary: "tools, channels and providers of others: list, add, check or remove them",
    load: async () => (await import("./commands/plugins.ts")).addPluginsCommand,
  },
  mcp: {
    summary: "MCP servers: add, import, list, try, log in at or remove them",
    load: async () => (await import("./commands/mcp.ts")).addMcpCommand,
  },
  web: {
    summary: "what agents have of the web",
    load: async () => (await import("./commands/web.ts")).addWebCommand,
  },
  outbox: {
    summary: "list outgoing messages, retry failed ones",
    load: async () => (await import("./commands/outbox.ts")).addOutboxCommand,
  },
  models: {
    summary: "what was learned of models",
    load: async () => (await import("./commands/models.ts")).addModelsCommand,
  },
  usage: {
    summary: "what model calls have cost",
    load: async () => (await import("./commands/usage.ts")).addUsageCommand,
  },
  send: {
    summary: "say something in a group's chat as the host",
    load: async () => (await import("./commands/send.ts")).addSendCommand,
  },
  events: {
    summary: "what happens, event by event",
    load: async () => (await import("./commands/events.ts")).addEventsCommand,
  },
  logs: { summary: "what was logged", load: async () => (await import("./commands/logs.ts")).addLogsCommand },
  audit: {
    summary: "verify, read or report the audit log",
    load: async () => (await import("./commands/audit.ts")).addAuditCommand,
  },
  channels: {
    summary: "list channels, link an account",
    load: async () => (await import("./commands/channels.ts")).addChannelsCommand,
  },
  config: {
    summary: "check, change and apply the configuration",
    load: async () => (await import("./commands/config.ts")).addConfigCommand,
  },
  redteam: {
    summary: "attack a throwaway host, to check that everything is contained",
    load: async () => (await import("./commands/redteam.ts")).addRedteamCommand,
  },
  version: {
    summary: "versions of crabpot, Node.js and the engine",
    load: async () => (await import("./commands/version.ts")).addVersionCommand,
  },
};

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
  const context = new CommandContext(environment, streams, hostFunctions);
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
  const wanted = args.find((word) => !word.startsWith("-"));
  for (const [name, entry] of Object.entries(entries)) {
    if (name === wanted || (wanted === "help" && args.includes(name))) (await entry.load())(program, context);
    else program.command(name).description(entry.summary);
  }
  return program;
}

function report(error: Error, { stderr }: CommandStreams): number {
  const fix = error instanceof AppError ? error.fix : undefined;
  stderr.write(`crabpot: ${visibleLines(error.message)}\n`);
  if (fix !== undefined) stderr.write(`  fix: ${visibleLines(fix)}\n`);
  return error instanceof AppError ? error.exitCode : 1;
}
