import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { AppError } from "../../lib/app-error.ts";

/** From where packages are fetched, and how: none of it is secret. */
export interface Mirrors {
  /** Build arguments: addresses of registries and proxies, by the names that pip and npm know. */
  readonly variables: Readonly<Record<string, string>>;
  /** PEM of the authorities that the operator's programs trust besides; may be empty. */
  readonly certificates: string;
}

interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeFolder: string;
}

const proxyNames = ["http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"] as const;
const certificateNames = ["NODE_EXTRA_CA_CERTS", "PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"] as const;
/** The authorities of a whole system have some 200 KB. */
const mostCertificateChars = 1_000_000;

/**
 * The mirrors that this user's own pip and npm use: by the environment, or else by their files. What holds a password
 * is not handed to the scripts of packages: throws `bad_input` with what to do.
 */
export async function findMirrors({ env, homeFolder }: Surroundings): Promise<Mirrors> {
  const npm = await readSettings([join(homeFolder, ".npmrc")]);
  const pip = await readSettings([
    "/etc/pip.conf",
    join(homeFolder, ".pip", "pip.conf"),
    join(homeFolder, ".config", "pip", "pip.conf"),
    ...(env["PIP_CONFIG_FILE"] ? [env["PIP_CONFIG_FILE"]] : []),
  ]);
  const wanted: Record<string, string | undefined> = {
    npm_config_registry: env["npm_config_registry"] ?? env["NPM_CONFIG_REGISTRY"] ?? npm.get("registry"),
    PIP_INDEX_URL: env["PIP_INDEX_URL"] ?? pip.get("index-url"),
    PIP_EXTRA_INDEX_URL: env["PIP_EXTRA_INDEX_URL"] ?? pip.get("extra-index-url"),
    PIP_TRUSTED_HOST: env["PIP_TRUSTED_HOST"] ?? pip.get("trusted-host"),
    ...Object.fromEntries(proxyNames.map((name) => [name, env[name]])),
  };
  const variables = Object.entries(wanted).flatMap(([name, value]) => {
    const kept = usable(name, value ?? "");
    return kept === "" ? [] : [[name, kept] as const];
  });
  const files = [...certificateNames.map((name) => env[name]), npm.get("cafile"), pip.get("cert")];
  return { variables: Object.fromEntries(variables), certificates: await readCertificates(files) };
}

/** An index in a folder of this machine cannot be reached from where packages are installed: it is left out. */
function usable(name: string, value: string): string {
  const words = value.split(/\s+/).filter((word) => word !== "" && !word.startsWith("file:"));
  for (const word of words) {
    if (!/^[a-z]+:\/\/[^/]*@/i.test(word)) continue;
    throw new AppError(
      "bad_input",
      `${name} holds a user or a password, which would be given to the scripts of packages that are installed for groups.`,
      {
        fix: `Let ${name} of the host name a mirror or proxy that needs no password, or leave out \`image\` of groups.`,
      },
    );
  }
  return words.join(" ");
}

/** Lines such as `key = value`, in any section; a later file wins. */
async function readSettings(paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const settings = new Map<string, string>();
  for (const path of paths) {
    const text = await readFile(path, "utf8").catch(() => "");
    for (const line of text.split("\n")) {
      const [, key, value] = /^([a-z-]+)\s*=\s*"?([^"]*)"?$/.exec(line.trim()) ?? [];
      if (key !== undefined && value !== undefined && !value.includes("${")) settings.set(key, value);
    }
  }
  return settings;
}

/** Certificates alone, each once, whatever else is in the files. */
async function readCertificates(paths: readonly (string | undefined)[]): Promise<string> {
  const found = new Set<string>();
  for (const path of new Set(paths)) {
    const text = path ? await readFile(path, "utf8").catch(() => "") : "";
    const blocks = text.match(/-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g) ?? [];
    for (const block of blocks) found.add(block);
  }
  const pem = [...found, ""].join("\n");
  if (found.size === 0) return "";
  if (pem.length <= mostCertificateChars) return pem;
  throw new AppError("bad_input", `The certificates that are trusted besides have ${pem.length} characters.`, {
    fix: `Name a file with at most ${mostCertificateChars} characters in NODE_EXTRA_CA_CERTS.`,
  });
}
