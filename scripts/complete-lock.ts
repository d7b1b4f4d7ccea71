import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";

/**
 * Adds the optional packages of other platforms that package-lock.json lacks. npm leaves out what the registry in use
 * does not have, and `npm ci` then refuses the lock everywhere. To be run by hand after a dependency was changed.
 */
interface LockEntry {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const path = resolve(import.meta.dirname, "../package-lock.json");
const lock = JSON.parse(readFileSync(path, "utf8")) as { packages: Record<string, LockEntry> };

/** `@oxlint/binding-linux-x64-musl` → linux, x64, musl, as these packages are named. */
function entryFor(name: string, version: string, dev: boolean): LockEntry {
  const [os = "", cpu = "", abi] = (name.split("/").at(-1) ?? "").replace("binding-", "").split("-");
  const libc = os === "linux" && abi ? { libc: [abi.startsWith("musl") ? "musl" : "glibc"] } : {};
  return { version, cpu: [cpu], ...(dev ? { dev } : {}), ...libc, optional: true, os: [os] };
}

for (const [owner, { dev = false, optionalDependencies = {} }] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const key = `node_modules/${name}`;
    if (!(key in lock.packages) && !(`${owner}/${key}` in lock.packages))
      lock.packages[key] = entryFor(name, version, dev);
  }
}
const sorted = Object.entries(lock.packages).toSorted(([one], [other]) => (one < other ? -1 : 1));
writeFileSync(path, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, undefined, 2)}\n`);
