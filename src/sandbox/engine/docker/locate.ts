import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError, toError } from "../../../lib/app-error.ts";
import type { Surroundings } from "../surroundings.ts";
import { type EngineAddress, hidePassword, socketPath } from "./address.ts";

const instead = "set DOCKER_HOST=unix:///var/run/docker.sock";

/** Rejects when nothing answers as an engine at the address. */
export type Ping = (address: EngineAddress) => Promise<unknown>;

/**
 * The engine to use. One that is named (DOCKER_HOST, then DOCKER_CONTEXT, then the current Docker context) is the only
 * candidate: if it does not answer, that is an error and not a reason to use another. Otherwise the first of the usual
 * sockets that answers. Throws `engine_unavailable` with every place that was tried and why it did not do,
 * `setup_required` when what is named is no socket of this machine.
 */
export async function locateEngine(surroundings: Surroundings, ping: Ping): Promise<EngineAddress> {
  const named = await namedAddress(surroundings);
  const candidates = named === undefined ? usualAddresses(surroundings) : [named];
  const failures: string[] = [];
  for (const candidate of candidates) {
    try {
      await ping(candidate);
      return candidate;
    } catch (thrown) {
      failures.push(`${candidate.url} (${reason(thrown)})`);
    }
  }
  throw named === undefined
    ? new AppError("engine_unavailable", `No container engine answers. Tried: ${failures.join(", ")}.`, {
        fix: "npm run setup",
      })
    : new AppError(
        "engine_unavailable",
        `The container engine named by ${named.namedBy} does not answer: ${failures.join(", ")}.`,
        { fix: `Start it, or name another one by ${named.namedBy}.` },
      );
}

async function namedAddress(surroundings: Surroundings): Promise<EngineAddress | undefined> {
  const { env } = surroundings;
  if (env["DOCKER_HOST"]) return socketAddress(env["DOCKER_HOST"], "DOCKER_HOST", `unset DOCKER_HOST, or ${instead}`);
  const configFolder = env["DOCKER_CONFIG"] || join(surroundings.homeFolder, ".docker");
  const variable = env["DOCKER_CONTEXT"];
  const context = variable || (await currentContext(configFolder));
  if (context === undefined || context === "default") return undefined;
  const namedBy = `the Docker context "${context}" (${variable ? "DOCKER_CONTEXT" : join(configFolder, "config.json")})`;
  const url = await contextUrl(configFolder, context, namedBy);
  return socketAddress(
    url,
    namedBy,
    `${variable ? "unset DOCKER_CONTEXT" : "docker context use default"}, or ${instead}`,
  );
}

/** The address as it was named. Throws `setup_required` for one that is not a socket: waiting for it would not help. */
function socketAddress(url: string, namedBy: string, fix: string): EngineAddress {
  try {
    socketPath(url);
    return { url, namedBy };
  } catch (cause) {
    const message = `${namedBy} says "${hidePassword(url)}", but crabpot only uses an engine of this machine, by its unix socket.`;
    throw new AppError("setup_required", message, { cause, fix });
  }
}

async function currentContext(configFolder: string): Promise<string | undefined> {
  const path = join(configFolder, "config.json");
  const text = await readIfThere(path);
  if (text === undefined) return undefined;
  const current = field(parseJson(text, path), "currentContext");
  return typeof current === "string" && current !== "" ? current : undefined;
}

async function contextUrl(configFolder: string, context: string, namedBy: string): Promise<string> {
  const folder = createHash("sha256").update(context).digest("hex");
  const path = join(configFolder, "contexts", "meta", folder, "meta.json");
  const text = await readIfThere(path);
  if (text === undefined) {
    throw new AppError("engine_unavailable", `${namedBy} does not exist: there is no ${path}.`, {
      fix: "docker context ls",
    });
  }
  const url = field(field(field(parseJson(text, path), "Endpoints"), "docker"), "Host");
  if (typeof url === "string") return url;
  throw new AppError("engine_unavailable", `${namedBy} names no engine: ${path} has no Endpoints.docker.Host.`);
}

function usualAddresses({ env, homeFolder }: Surroundings): EngineAddress[] {
  const runtimeFolder = env["XDG_RUNTIME_DIR"];
  const paths = [
    "/var/run/docker.sock",
    ...(runtimeFolder ? [join(runtimeFolder, "docker.sock")] : []),
    join(homeFolder, ".docker/run/docker.sock"),
    ...(runtimeFolder ? [join(runtimeFolder, "podman/podman.sock")] : []),
    "/run/podman/podman.sock",
  ];
  return paths.map((path) => ({ url: `unix://${path}`, namedBy: undefined }));
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (thrown) {
    if (toError(thrown).message.startsWith("ENOENT")) return undefined;
    throw new AppError("engine_unavailable", `${path} cannot be read: ${toError(thrown).message}`, { cause: thrown });
  }
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AppError("engine_unavailable", `${path} is not JSON: ${toError(cause).message}`, { cause });
  }
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function reason(thrown: unknown): string {
  const { message } = toError(thrown);
  if (message.includes("ENOENT")) return "not there";
  if (message.includes("ECONNREFUSED")) return "nothing listens";
  if (message.includes("EACCES")) return "permission denied";
  return message;
}
