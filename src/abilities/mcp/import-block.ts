import * as z from "zod";

import { isJsonObject } from "../../lib/text/parse-json.ts";
import { AppError } from "../../lib/app-error.ts";
import { mebibyte } from "../../lib/text/bytes.ts";

const text = z.string().max(8192);
const entry = z.looseObject({
  command: text.optional(),
  args: z.array(text).max(128).default([]),
  env: z.record(z.string(), z.coerce.string()).default({}),
  url: text.optional(),
  serverUrl: text.optional(),
  headers: z.record(z.string(), text).default({}),
});
const block = z.record(z.string().min(1).max(128), entry);

/** A server as config.yaml writes it, and what people should know of it. */
export interface ImportedServer {
  readonly name: string;
  readonly value: Readonly<Record<string, unknown>>;
  readonly notes: readonly string[];
}

const looksSecret = /key|token|secret|passw|credential|auth|cookie/i;

/**
 * Reads the `mcpServers` block of other clients, with or without what is around it. Values that look like secrets
 * become variables of the host: none is written into config.yaml. Throws for what would widen a container, or cannot be
 * understood: `server_refused`, `bad_input`.
 */
export function readImport(source: string): ImportedServer[] {
  if (source.length > mebibyte) throw new AppError("too_large", "The block of servers is larger than 1 MiB.");
  const parsed = parse(source);
  const servers = block.safeParse(parsed["mcpServers"] ?? parsed["servers"] ?? parsed);
  if (!servers.success) {
    const [issue] = servers.error.issues;
    throw new AppError(
      "bad_input",
      `This is not a valid block of MCP servers: ${issue?.path.join(".")}: ${issue?.message}.`,
      {
        fix: 'Expected JSON such as {"mcpServers": {"files": {"command": "npx", "args": ["-y", "PACKAGE@1.2.3"]}}}.',
      },
    );
  }
  return Object.entries(servers.data).map(([name, server]) => readServer(nameFor(name), server));
}

function parse(source: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(source);
    if (isJsonObject(value)) return value;
  } catch {
    // Its words would repeat what may be secrets.
  }
  throw new AppError("bad_input", "Not a JSON object.", {
    fix: "Give a file with an mcpServers block, or - for standard input.",
  });
}

/** `Brave Search` → `brave-search` */
function nameFor(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")
    .slice(0, 32);
}

function readServer(name: string, server: z.output<typeof entry>): ImportedServer {
  const url = server.url ?? server.serverUrl;
  if (url !== undefined) {
    const { values, notes } = withoutSecrets(name, "headers", server.headers);
    return { name, value: { url, ...(Object.keys(values).length > 0 && { headers: values }) }, notes };
  }
  if (server.command === undefined)
    throw new AppError("bad_input", `The server ${name} has neither a command nor a url.`);
  const { command, args } = withoutWindows(server.command, server.args);
  const program = command === "docker" || command === "podman" ? readContainerRun(name, args) : undefined;
  const { values, notes } = withoutSecrets(name, "env", { ...program?.env, ...server.env });
  const env = Object.keys(values).length > 0 ? { env: values } : {};
  if (program) return { name, value: { image: program.image, ...argsOf(program.args), ...env }, notes };
  return { name, value: { command, ...argsOf(args), ...env }, notes };
}

/** There, `cmd /c npx …` is how `npx …` is written. */
function withoutWindows(path: string, args: readonly string[]): { command: string; args: readonly string[] } {
  const command = path.split(/[\\/]/).at(-1) ?? "";
  const [flag = "", inner] = args;
  if (!/^cmd(?:\.exe)?$/i.test(command) || flag.toLowerCase() !== "/c" || inner === undefined) return { command, args };
  return { command: inner, args: args.slice(2) };
}

function argsOf(args: readonly string[]): { args?: readonly string[] } {
  return args.length > 0 ? { args } : {};
}

function withoutSecrets(name: string, where: "env" | "headers", given: Readonly<Record<string, string>>) {
  const notes: string[] = [];
  const values = Object.fromEntries(
    Object.entries(given).map(([key, value]) => {
      if (!looksSecret.test(key) || /^\$\{\w+\}$/.test(value)) return [key, value.replaceAll(/\$\{(?!\w+\})/g, "$${")];
      const variable = (where === "env" ? key : `${name}_${key}`).toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_");
      const better = where === "env" ? "; better, use `secrets`, which the server never sees" : "";
      notes.push(
        `${where}.${key} looks like a secret: put its value into the variable ${variable} of the host${better}`,
      );
      return [key, `\${${variable}}`];
    }),
  );
  return { values, notes };
}

const plainFlags: ReadonlySet<string> = new Set(["-i", "--interactive", "--rm", "--init", "-t", "--tty", "-it", "-ti"]);
const idleFlags: ReadonlySet<string> = new Set(["--name", "--pull", "--platform", "-l", "--label"]);

/**
 * `docker run -i --rm -e KEY=VALUE IMAGE …`: its container gets the profile of all containers, so no flag may ask for
 * more.
 */
function readContainerRun(name: string, args: readonly string[]) {
  const words = [...(args[0] === "container" ? args.slice(1) : args)];
  if (words.shift() !== "run") throw new AppError("bad_input", `The server ${name} is not started by docker run.`);
  const env: Record<string, string> = {};
  while (words[0]?.startsWith("-") === true) Object.assign(env, readFlag(name, words));
  const [image, ...rest] = words;
  if (image === undefined) throw new AppError("bad_input", `The server ${name} names no image.`);
  return { image, args: rest, env };
}

/** Takes a flag with its value from the words; what it says of the environment. */
function readFlag(name: string, words: string[]): Record<string, string> {
  const [flag = "", inline] = (words.shift() ?? "").split(/=(.*)/s, 2);
  if (plainFlags.has(flag)) return {};
  const value = inline ?? words.shift() ?? "";
  if (idleFlags.has(flag)) return {};
  if (flag !== "-e" && flag !== "--env")
    throw new AppError(
      "server_refused",
      `The server ${name} needs docker run ${flag}, which is not allowed in crabpot's containers.`,
      {
        fix: "Leave it out; network, folder and secrets of a server have their own settings: docs/mcp-containers.md.",
      },
    );
  const [key = "", set] = value.split(/=(.*)/s, 2);
  return { [key]: set ?? `\${${key}}` };
}
