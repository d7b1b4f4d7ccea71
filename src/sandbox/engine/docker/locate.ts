import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError, toError } from "../../../lib/app-error.ts";
import type { Surroundings } from "../surroundings.ts";
import { type EngineAddress, type EngineRoute, hidePassword, isLoopback, parseEngineUrl } from "./address.ts";
import type { TlsIdentity } from "./tls-identity.ts";

/** Rejects when nothing answers as an engine at the address. */
export type Ping = (address: EngineAddress) => Promise<unknown>;

/**
 * The engine to use. One that is named (DOCKER_HOST, then DOCKER_CONTEXT, then the current Docker context) is the only
 * candidate: if it does not answer, that is an error and not a reason to use another. Otherwise the first of the usual
 * sockets that answers. Throws `engine_unavailable` with every place that was tried and why it did not do.
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
  const configFolder = env["DOCKER_CONFIG"] || join(surroundings.homeFolder, ".docker");
  const certificates = env["DOCKER_CERT_PATH"] || configFolder;
  if (env["DOCKER_HOST"]) return resolveAddress({ url: env["DOCKER_HOST"], namedBy: "DOCKER_HOST", certificates, env });
  const variable = env["DOCKER_CONTEXT"];
  const context = variable || (await currentContext(configFolder));
  if (context === undefined || context === "default") return undefined;
  const namedBy = `the Docker context "${context}" (${variable ? "DOCKER_CONTEXT" : join(configFolder, "config.json")})`;
  const endpoint = await contextEndpoint(configFolder, context, namedBy);
  return resolveAddress({ certificates, ...endpoint, namedBy, env });
}

/** An engine as somebody has named it. */
interface NamedEngine {
  readonly url: string;
  readonly namedBy: string;
  /** The folder of the certificates if TLS is asked for. */
  readonly certificates: string;
  readonly env: Surroundings["env"];
  /** What it is named by brings certificates along: it asks for TLS by that alone. */
  readonly hasCertificates?: boolean;
  readonly skipsVerification?: boolean;
}

async function resolveAddress(named: NamedEngine): Promise<EngineAddress> {
  const { url, namedBy, env } = named;
  let route: EngineRoute;
  try {
    route = parseEngineUrl(url);
  } catch (thrown) {
    throw unusable(named, toError(thrown).message);
  }
  if (route.kind === "ssh") return { url, namedBy, env };
  if (route.kind === "unix") return { url, namedBy };
  const tls = await tlsIdentity(named);
  if (tls === undefined && !isLoopback(route.host)) {
    const advice = "set DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH, or use ssh://user@host";
    throw unusable(named, `without TLS whoever is on the way could take over the engine; ${advice}`);
  }
  return { url, namedBy, tls };
}

/**
 * With which certificates to speak TLS; undefined for plain TCP. As for Docker's own client, any value of DOCKER_TLS_VERIFY
 * asks for it. That client also speaks TLS without looking at the engine's certificate, which keeps nobody out: refused.
 */
async function tlsIdentity(named: NamedEngine): Promise<TlsIdentity | undefined> {
  const { namedBy, certificates, env, hasCertificates = false, skipsVerification = false } = named;
  const advice = "set DOCKER_TLS_VERIFY=1";
  if (skipsVerification)
    throw unusable(named, "its certificate is not to be verified, and then it could be any engine");
  if (hasCertificates || env["DOCKER_TLS_VERIFY"]) {
    // With it comes cryptography, which is long to load; most engines are behind a socket.
    const { readTlsIdentity } = await import("./tls-identity.ts");
    return readTlsIdentity(certificates, hasCertificates ? namedBy : "DOCKER_TLS_VERIFY");
  }
  for (const name of ["DOCKER_TLS", "DOCKER_CERT_PATH"]) {
    if (env[name])
      throw unusable(named, `${name} is set, but not that the engine's certificate is verified; ${advice}`);
  }
  return undefined;
}

function unusable({ namedBy, url }: NamedEngine, why: string): AppError {
  const message = `${namedBy} says "${hidePassword(url)}", which crabpot cannot use: ${why}.`;
  return new AppError("engine_unavailable", message);
}

async function currentContext(configFolder: string): Promise<string | undefined> {
  const path = join(configFolder, "config.json");
  const text = await readIfThere(path);
  if (text === undefined) return undefined;
  const current = field(parseJson(text, path), "currentContext");
  return typeof current === "string" && current !== "" ? current : undefined;
}

async function contextEndpoint(
  configFolder: string,
  context: string,
  namedBy: string,
): Promise<Pick<NamedEngine, "url" | "hasCertificates" | "skipsVerification"> & { certificates?: string }> {
  const folder = createHash("sha256").update(context).digest("hex");
  const path = join(configFolder, "contexts", "meta", folder, "meta.json");
  const text = await readIfThere(path);
  if (text === undefined) {
    throw new AppError("engine_unavailable", `${namedBy} does not exist: there is no ${path}.`, {
      fix: "docker context ls",
    });
  }
  const endpoint = field(field(parseJson(text, path), "Endpoints"), "docker");
  const url = field(endpoint, "Host");
  if (typeof url !== "string") {
    throw new AppError("engine_unavailable", `${namedBy} names no engine: ${path} has no Endpoints.docker.Host.`);
  }
  const skipsVerification = field(endpoint, "SkipTLSVerify") === true;
  const certificates = join(configFolder, "contexts", "tls", folder, "docker");
  return existsSync(certificates)
    ? { url, skipsVerification, hasCertificates: true, certificates }
    : { url, skipsVerification };
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
