import type { StdioServer } from "../../../domain/sandbox/mcp-server.ts";
import { AppError } from "../../../lib/app-error.ts";

/** A package that has to be installed before a server's program can run. */
export interface WantedPackage {
  /** Package for npm: `name`, `name@1.2.3`, an archive or a folder. */
  readonly spec: string;
  /** Program of the package; undefined: the only one, or the one named like the package. */
  readonly program: string | undefined;
}

/** Parsed command line of a server. */
export interface CommandLine {
  /** Package to install; undefined: none, `command` runs unchanged. */
  readonly wanted: WantedPackage | undefined;
  /** Empty with an image whose own entry point runs. */
  readonly command: readonly string[];
  /** Arguments of the program. */
  readonly args: readonly string[];
}

/** Switches of npx that change nothing here: packages are installed without being asked for, quietly. */
const idleSwitches: ReadonlySet<string> = new Set(["-y", "--yes", "-q", "--quiet", "--no-install", "--prefer-online"]);
const packageSwitches: ReadonlySet<string> = new Set(["-p", "--package"]);

/** Programs that fetch code each time they are started, in their own ways. */
const fetchers: Readonly<Record<string, string>> = {
  uvx: "put the package into an image and set image",
  uv: "put the package into an image and set image",
  pipx: "put the package into an image and set image",
  docker: "set image to its image, and command and args to what follows it",
  podman: "set image to its image, and command and args to what follows it",
  bunx: "write npx instead",
  pnpx: "write npx instead",
  npm: "write npx instead",
  pnpm: "write npx instead",
  yarn: "write npx instead",
  bun: "write npx instead",
  cmd: "leave out cmd /c",
};

const npmSpec = /^(?:(?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*(?:@[\w.^~*-]{1,64})?|\/[^\0]{1,1024})$/i;

/** Reads what config.yaml says. Throws `config_invalid` for what cannot be installed, with what to write instead. */
export function readCommandLine({ name, command, args, image }: StdioServer): CommandLine {
  const instead = image === undefined && Object.hasOwn(fetchers, command) ? fetchers[command] : undefined;
  if (instead !== undefined)
    throw refused(name, `${command} cannot run in its container, which fetches nothing`, instead);
  if (command === "npx") return readNpx(name, args);
  return { wanted: undefined, command: command === "" ? [] : [command], args };
}

function readNpx(server: string, args: readonly string[]): CommandLine {
  const { spec, rest } = withoutSwitches(args);
  const [first, ...others] = rest;
  if (first === undefined || first.startsWith("-"))
    throw refused(server, `npx ${first ?? "without a package"} is not understood`, "write npx -y PACKAGE@VERSION …");
  const wanted = spec === undefined ? { spec: first, program: undefined } : { spec, program: first };
  if (!npmSpec.test(wanted.spec))
    throw refused(server, `${JSON.stringify(wanted.spec)} is not a package of npm`, "write npx -y PACKAGE@VERSION …");
  return { wanted, command: [], args: others };
}

/** `spec`: what -p or --package says. */
function withoutSwitches(args: readonly string[]): {
  readonly spec: string | undefined;
  readonly rest: readonly string[];
} {
  let spec: string | undefined;
  let next = 0;
  for (; next < args.length; next += 1) {
    const word = args[next] ?? "";
    if (word === "--") return { spec, rest: args.slice(next + 1) };
    const [flag = "", value] = word.split("=", 2);
    if (packageSwitches.has(flag)) spec = value ?? args[(next += 1)] ?? "";
    else if (!idleSwitches.has(word)) break;
  }
  return { spec, rest: args.slice(next) };
}

function refused(server: string, why: string, fix: string): AppError {
  return new AppError("server_refused", `The MCP server ${server} cannot be started: ${why}.`, {
    fix: `In config.yaml, mcp.servers.${server}: ${fix}.`,
  });
}
