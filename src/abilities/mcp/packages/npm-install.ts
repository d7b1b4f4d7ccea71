import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import * as z from "zod";

import { AppError } from "../../../lib/app-error.ts";
import { runFetcher, whyFetchFailed } from "../../../lib/process/run-fetcher.ts";
import { mebibyte } from "../../../lib/text/bytes.ts";
import type { WantedPackage } from "./command-line.ts";

const limits = { timeoutMs: 300_000, outputBytes: 256 * 1024, fileBytes: 256 * mebibyte } as const;

/** A package installed by npm into a folder. */
export interface FetchedPackage {
  readonly package: string;
  readonly version: string;
  readonly integrity: string | undefined;
  readonly start: string;
  /** Packages whose install scripts were not run. */
  readonly withScripts: readonly string[];
}

const lockFile = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      integrity: z.string().optional(),
      hasInstallScript: z.boolean().optional(),
      dependencies: z.record(z.string(), z.string()).optional(),
    }),
  ),
});

const manifest = z.object({
  version: z.string(),
  bin: z.union([z.string(), z.record(z.string(), z.string())]).optional(),
});

export interface NpmOptions {
  /** Environment of npm: proxies, where its settings are. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
}

/** Fetches a package, with those that it needs, into a new folder. No code of any of them runs. */
export async function fetchWithNpm(wanted: WantedPackage, folder: string, place: NpmOptions): Promise<FetchedPackage> {
  await mkdir(folder, { mode: 0o755 });
  await writeFile(join(folder, "package.json"), `{"name":"crabpot-mcp-server","private":true}\n`);
  await runNpm([...npmOptions, `--prefix=${folder}`, "--", wanted.spec], folder, place);
  const { packages } = lockFile.parse(JSON.parse(await readFile(join(folder, "package-lock.json"), "utf8")));
  const [name] = Object.keys(packages[""]?.dependencies ?? {});
  if (name === undefined) throw new AppError("not_found", `npm has installed nothing for ${wanted.spec}.`);
  const inTree = `node_modules/${name}`;
  const { version, bin } = manifest.parse(JSON.parse(await readFile(join(folder, inTree, "package.json"), "utf8")));
  const start = `${inTree}/${programOf(name, bin, wanted.program)}`;
  await refuseForeignProgram(join(folder, start), wanted.spec);
  // It has npm's own notes, with times of this machine: not part of what is installed.
  await rm(join(folder, "node_modules/.package-lock.json"), { force: true });
  return { package: name, version, integrity: packages[inTree]?.integrity, start, withScripts: withScripts(packages) };
}

const mostNamed = 50;

/** Package name in `node_modules/a/node_modules/@b/c`: `@b/c`. */
function withScripts(packages: z.output<typeof lockFile>["packages"]): readonly string[] {
  const names = Object.entries(packages)
    .filter(([path, { hasInstallScript }]) => path !== "" && hasInstallScript === true)
    .map(([path]) => path.split("node_modules/").at(-1) ?? path);
  return [...new Set(names)].toSorted().slice(0, mostNamed);
}

const npmOptions = [
  "install",
  "--ignore-scripts",
  "--omit=dev",
  "--no-bin-links",
  "--install-links",
  "--no-audit",
  "--no-fund",
  "--no-update-notifier",
  "--loglevel=error",
] as const;

function programOf(name: string, bin: z.output<typeof manifest>["bin"], asked: string | undefined): string {
  const plain = name.split("/").at(-1) ?? name;
  const programs = typeof bin === "string" ? { [plain]: bin } : (bin ?? {});
  const names = Object.keys(programs);
  const chosen = asked ?? (names.length === 1 ? names[0] : plain);
  if (names.length === 0) throw new AppError("server_refused", `${name} has no program to start: it is a library.`);
  const path = chosen !== undefined && Object.hasOwn(programs, chosen) ? programs[chosen] : undefined;
  if (path === undefined) {
    const which = asked === undefined ? "" : ` "${asked}"`;
    throw new AppError("server_refused", `${name} has no program${which} to start. It has: ${names.join(", ")}.`, {
      fix: `Write npx -y -p ${name} PROGRAM.`,
    });
  }
  const steps = path.split("/").filter((step) => step !== "" && step !== ".");
  if (steps.includes("..")) throw new AppError("server_refused", `The program of ${name} lies outside of it: ${path}.`);
  return steps.join("/");
}

/** Refuses programs for other interpreters than Node, which would fail in the container. */
async function refuseForeignProgram(file: string, spec: string): Promise<void> {
  const [line = ""] = (await readFile(file, "utf8")).slice(0, 256).split("\n", 1);
  if (!line.startsWith("#!") || /\bnode\b/.test(line)) return;
  throw new AppError(
    "server_refused",
    `The program of ${spec} is not for Node: it begins with ${JSON.stringify(line)}.`,
    {
      fix: "Put it into an image, and set image.",
    },
  );
}

async function runNpm(args: readonly string[], cwd: string, place: NpmOptions): Promise<void> {
  try {
    await runFetcher("npm", args, { ...place, cwd, limits });
  } catch (cause) {
    place.signal?.throwIfAborted();
    const failed = { program: "npm", timeoutMs: limits.timeoutMs, instead: "set image", says: "first" } as const;
    const why = whyFetchFailed(cause, failed);
    throw new AppError("server_refused", `npm could not fetch ${args.at(-1) ?? ""}: ${why}.`, { cause });
  }
}
