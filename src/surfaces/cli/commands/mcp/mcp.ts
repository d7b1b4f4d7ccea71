import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline/promises";
import { text as readAll } from "node:stream/consumers";

import type { Command } from "commander";

import { mcpServers } from "../../../../config/configured/mcp.ts";
import type { TestedTool } from "../../../../domain/sandbox/mcp-server.ts";
import type { SettingEdit } from "../../../../domain/settings/setting.ts";
import { AppError } from "../../../../lib/app-error.ts";
import { ownCommand } from "../../../../lib/process/own-command.ts";
import { readVersion } from "../../../../lib/process/version.ts";
import type { InstalledPackage, ServerState } from "../../../../abilities/mcp/offline.ts";
import type { CommandContext, CommandStreams } from "../../context.ts";
import { addLeaf } from "../../context.ts";
import type { Output } from "../../output.ts";
import { editSettings } from "../../../../operations/settings/operations.ts";
import { carryOut } from "../../leaves/operation-leaf.ts";
import { configNow, findServer, mcpHomeOf, readSettings } from "./servers.ts";
import { addAllow } from "./allow.ts";
import { addTools } from "./tools.ts";
import { isConfirmed } from "../../confirm.ts";
import { testMcpServer } from "../../../../abilities/mcp/operations.ts";

const connectMs = 60_000;
const loginMs = 600_000;

/**
 * MCP servers are settings, packages and logins in the home: none of it needs a running host, and one that runs takes
 * changes over.
 */
export function addMcpCommand(program: Command, context: CommandContext): void {
  const mcp = program.command("mcp").description("add, import, list, test, log in to or remove MCP servers");
  addList(mcp, context);
  addTools(mcp, context);
  addTest(mcp, context);
  addAllow(mcp, context);
  addAdd(mcp, context);
  addImport(mcp, context);
  addRemove(mcp, context);
  addLogin(mcp, context);
}

interface Row extends ServerState {
  readonly name: string;
  readonly kind: string;
  readonly groups: readonly string[];
}

function addList(mcp: Command, context: CommandContext): void {
  addLeaf(mcp, "list", "list the servers of config.yaml and their states").action(
    async (_options: object, command: Command) => {
      const config = await configNow(context);
      const rows: Row[] = [];
      for (const server of mcpServers(config)) {
        const named = Object.entries(config.groups).filter(([, group]) => group.mcp.includes(server.name));
        const groups = named.map(([name]) => name);
        rows.push({ name: server.name, kind: server.kind, ...(await mcpHomeOf(context).stateOf(server)), groups });
      }
      const columns = [
        { title: "name", of: ({ name }: Row) => name },
        { title: "kind", of: ({ kind }: Row) => kind },
        { title: "groups", of: ({ groups }: Row) => groups.join(", ") },
        { title: "state", of: ({ state, reason }: Row) => (reason === undefined ? state : `${state}: ${reason}`) },
      ];
      context.outputOf(command).items(rows, columns, "There are no MCP servers.");
    },
  );
}

function addTest(mcp: Command, context: CommandContext): void {
  addLeaf(
    mcp,
    "test <name>",
    "connect to a server and list what it offers; a server in a container needs a running host",
  ).action(async (name: string, _options: object, command: Command) => {
    const server = await findServer(context, name);
    const tested =
      server.kind === "stdio"
        ? await context.call(testMcpServer, { name })
        : await mcpHomeOf(context).test(server, await versionOf(context), AbortSignal.timeout(connectMs));
    const { version, protocol, pingMs, tools } = tested;
    const view = { name, state: "ok", version, protocol, pingMs, tools };
    const named = (state: TestedTool["state"]): string =>
      tools
        .filter((tool) => tool.state === state)
        .map((tool) => (tool.reason === undefined ? tool.name : `${tool.name} (${tool.reason})`))
        .join(", ");
    context.outputOf(command).facts(view, [
      ["name", name],
      ["version", version],
      ["protocol", protocol],
      ["tools", named("ok")],
      ["changed", named("changed")],
      ["refused", named("refused")],
      ["ping", `${pingMs} ms`],
    ]);
  });
}

function versionOf({ environment }: CommandContext): Promise<string> {
  return readVersion(environment.checkout);
}

interface AddOptions {
  readonly url?: string;
  readonly header: readonly string[];
  readonly env: readonly string[];
  readonly allowPrivate: readonly string[];
  readonly image?: string;
  readonly group: readonly string[];
  readonly yes?: boolean;
}

function addAdd(mcp: Command, context: CommandContext): void {
  addLeaf(
    mcp,
    "add <name> [command...]",
    "add a server: a command line after --, or --url; an existing one is reinstalled",
  )
    .option("--url <url>", "address of a server over HTTP")
    .option("--header <NAME=VALUE>", "header sent with each request; write ${VARIABLE} for a secret", gather, [])
    .option("--env <NAME=VALUE>", "environment variable of its program", gather, [])
    .option("--allow-private <host:port>", "allow this address on a private network or this machine", gather, [])
    .option("--image <image>", "image instead of the agent's")
    .option("--group <group>", "enable it for this group (repeatable)", gather, [])
    .option("--yes", "without asking")
    .action(async (name: string, words: string[], options: AddOptions, command: Command) => {
      const value = valueOf(words, options) ?? (await knownSettings(context, name));
      const added = [{ name, value, notes: [] }];
      await addServers(context, context.outputOf(command), { added, groups: options.group, yes: options.yes === true });
    });
}

function gather(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

function valueOf(words: readonly string[], options: AddOptions): Record<string, unknown> | undefined {
  const { url, image, allowPrivate } = options;
  const [program, ...args] = words;
  if (url === undefined && program === undefined && image === undefined) return undefined;
  if (url !== undefined)
    return {
      url,
      ...(options.header.length > 0 && { headers: pairs(options.header) }),
      ...(allowPrivate.length > 0 && { allowPrivate }),
    };
  return {
    ...(program !== undefined && { command: program }),
    ...(args.length > 0 && { args }),
    ...(options.env.length > 0 && { env: pairs(options.env) }),
    ...(image !== undefined && { image }),
  };
}

function pairs(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((pair) => {
      const [name = "", value] = pair.split(/=(.*)/s, 2);
      if (value === undefined) throw new AppError("usage", `"${pair}" is not NAME=VALUE.`);
      return [name, value];
    }),
  );
}

/** Settings of an existing server, which is only reinstalled. */
async function knownSettings(context: CommandContext, name: string): Promise<undefined> {
  await findServer(context, name);
  return undefined;
}

interface Addition {
  readonly name: string;
  /** Settings to add; undefined when config.yaml has them. */
  readonly value: Readonly<Record<string, unknown>> | undefined;
  readonly notes: readonly string[];
}

/** All of them or none. */
async function addServers(
  context: CommandContext,
  output: Output,
  {
    added,
    groups,
    yes,
  }: { readonly added: readonly Addition[]; readonly groups: readonly string[]; readonly yes: boolean },
): Promise<void> {
  const config = await configNow(context);
  const servers = await Promise.all(
    added.map(async ({ name, value }) => (value === undefined ? findServer(context, name) : readSettings(name, value))),
  );
  showAdditions(output, added, { known: Object.keys(config.mcp.servers), yes });
  if (!(await isConfirmed(context, output, yes))) return;
  const names = added.map(({ name }) => name);
  const edits = [
    ...added.flatMap(({ name, value }) => (value === undefined ? [] : [{ path: ["mcp", "servers", name], value }])),
    ...groups.map((group) => {
      const before = config.groups[group]?.mcp;
      if (!before) throw new AppError("not_found", `There is no group "${group}" in config.yaml.`);
      return { path: ["groups", group, "mcp"], value: [...new Set([...before, ...names])] };
    }),
  ];
  const installed = await mcpHomeOf(context).install(servers, async () => {
    if (edits.length > 0) await changeConfig(context, output, edits);
  });
  for (const name of names) showAdded(output, name, installed.get(name));
  const whose = groups.length > 0 ? `Enabled for: ${groups.join(", ")}.` : "Groups enable it by naming it in `mcp`.";
  output.line(`Added: ${names.join(", ")}. ${whose}`);
}

function showAdded(output: Output, name: string, entry: InstalledPackage | undefined): void {
  const { package: from, version, withScripts = [] } = entry ?? {};
  if (output.json) output.object({ name, state: "added", package: from, version, withScripts });
  if (from !== undefined) output.line(`${name}: ${from} ${version} is installed.`);
  if (withScripts.length === 0) return;
  output.line(`  ! Install scripts never run. These packages have some: ${withScripts.join(", ")}.`);
  output.line(
    "    If the server lacks what they build or fetch, add it to an image and set `image`: docs/mcp-containers.md",
  );
}

function showAdditions(
  output: Output,
  added: readonly Addition[],
  { known, yes }: { readonly known: readonly string[]; readonly yes: boolean },
): void {
  for (const { name, value, notes } of added) {
    if (output.json && !yes) output.object({ name, state: "planned", settings: value, notes });
    const what = value === undefined ? "will be reinstalled" : JSON.stringify(value);
    output.line(`${name}${known.includes(name) && value ? " (replaces the existing server)" : ""}: ${what}`);
    for (const note of notes) output.line(`  ! ${note}`);
  }
}

function addImport(mcp: Command, context: CommandContext): void {
  addLeaf(mcp, "import <file>", "file with the mcpServers block of another client; - for standard input")
    .option("--group <group>", "enable them for this group (repeatable)", gather, [])
    .option("--yes", "without asking")
    .action(async (file: string, { group, yes }: { group: string[]; yes?: boolean }, command: Command) => {
      const { stdin } = context.streams;
      const source = file === "-" ? await readAll(stdin) : await readFile(file, "utf8").catch(unreadable(file));
      const added = mcpHomeOf(context).readImport(source);
      if (added.length === 0) throw new AppError("bad_input", "The block has no servers.");
      await addServers(context, context.outputOf(command), { added, groups: group, yes: yes === true });
    });
}

function unreadable(file: string): (cause: unknown) => never {
  return (cause) => {
    throw new AppError("bad_input", `Cannot read ${file}.`, { cause });
  };
}

function addRemove(mcp: Command, context: CommandContext): void {
  addLeaf(mcp, "remove <name>", "remove a server with its package and login; its data stays")
    .option("--yes", "without asking")
    .action(async (name: string, { yes }: { yes?: boolean }, command: Command) => {
      await findServer(context, name);
      const { groups } = await configNow(context);
      const output = context.outputOf(command);
      output.line(`The MCP server ${name} will be removed from config.yaml, with its package and its login.`);
      if (!(await isConfirmed(context, output, yes === true))) return;
      const edits: SettingEdit[] = Object.entries(groups)
        .filter(([, { mcp: named }]) => named.includes(name))
        .map(([group, { mcp: named }]) => ({
          path: ["groups", group, "mcp"],
          value: named.filter((other) => other !== name),
        }));
      await changeConfig(context, output, [...edits, { path: ["mcp", "servers", name], value: undefined }]);
      await mcpHomeOf(context).remove(name);
      if (output.json) output.object({ name, state: "removed" });
      output.line(`Removed: ${name}.`);
    });
}

async function changeConfig(context: CommandContext, output: Output, edits: readonly SettingEdit[]): Promise<void> {
  await carryOut(context, output, { operation: editSettings, leaf: {}, input: { edits } });
}

interface LoginOptions {
  readonly clientId?: string;
  readonly clientSecretEnv?: string;
  readonly withoutPerson?: boolean;
  readonly scope?: string;
  readonly port: string;
}

function addLogin(mcp: Command, context: CommandContext): void {
  addLeaf(mcp, "login <name>", "log in to a server: shows an address to open in a browser")
    .option("--client-id <id>", "registered client id; by default crabpot registers itself")
    .option("--client-secret-env <variable>", "environment variable with the client's secret")
    .option("--without-person", "log in as the client itself (client credentials)")
    .option("--scope <scope>", "scope to request")
    .option("--port <port>", "local port that the browser returns to", "0")
    .action(async (name: string, options: LoginOptions, command: Command) => {
      const server = await findServer(context, name);
      if (server.kind !== "remote") throw new AppError("bad_input", `${name} runs in a container and has no login.`);
      const output = context.outputOf(command);
      const outcome = await mcpHomeOf(context).logIn({
        server,
        version: await versionOf(context),
        client: clientOf(context, options),
        isUnattended: options.withoutPerson === true,
        scope: options.scope,
        port: portOf(options.port),
        show: (address) => {
          if (output.json) output.object({ url: address.href });
          output.line(`Open this address in a browser, and log in:\n\n${address.href}\n`);
          output.line("If the browser cannot return here, paste the address that it reached:");
        },
        typed: (signal) => typedLine(context.streams, signal),
        signal: AbortSignal.timeout(loginMs),
      });
      if (output.json) output.object({ name, state: outcome === "done" ? "ok" : "not-needed" });
      output.line(outcome === "done" ? `Logged in at ${name}.` : `${name} requires no login.`, "good");
    });
}

function clientOf({ environment: { variables } }: CommandContext, { clientId, clientSecretEnv }: LoginOptions) {
  if (clientId === undefined) return undefined;
  if (clientSecretEnv === undefined) return { id: clientId };
  const secret = variables[clientSecretEnv];
  if (!secret) throw new AppError("usage", `The environment variable ${clientSecretEnv} is not set.`);
  return { id: clientId, secret };
}

function portOf(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port < 65_536) return port;
  throw new AppError("usage", `--port ${text} is not a port.`, {
    fix: `Leave it out, and ${ownCommand("mcp login NAME")} takes a free one.`,
  });
}

/** Never answers without a terminal. */
async function typedLine({ stdin }: CommandStreams, signal: AbortSignal): Promise<string> {
  if (stdin.isTTY !== true) return new Promise(() => undefined);
  const lines = createInterface({ input: stdin });
  try {
    return await lines.question("", { signal });
  } finally {
    lines.close();
  }
}
