import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, copyFile, cp, mkdir, mkdtemp, readFile, realpath, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AppError, toError } from "../../src/lib/app-error.ts";
import { commandEnvironment, findProgram, output, run } from "./command.ts";
import type { SetupContext } from "./recipe.ts";
import { say } from "./say.ts";

const release = "bookworm";
const defaultMirror = "http://deb.debian.org/debian";
const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";

/** Contents that a container does not need or that belong to the machine they were made on. */
const left = [
  ["./dev/*", "./proc/*", "./sys/*", "./run/*", "./tmp/*", "./var/tmp/*", "./var/log/*", "./var/cache/*"],
  ["./var/lib/apt/lists/*", "./usr/share/doc/*", "./usr/share/man/*", "./usr/share/info/*", "./usr/share/locale/*"],
  ["./etc/resolv.conf", "./etc/hostname", "./etc/machine-id"],
].flat();

/** The name of a base image made here: a hash over what it is made from. */
export async function debianImageTag(context: SetupContext, packages: readonly string[]): Promise<string> {
  const manifest = await readFile(join(nodeFolder(context), "package.json"), "utf8").catch(() => "none");
  const inputs = [release, manifest, "npm", ...packages, ...left];
  return `crabpot-base:${createHash("sha256").update(inputs.join("\n")).digest("hex").slice(0, 16)}`;
}

/** Making one takes root, Debian's tools, and a Node that npm has for Linux. */
export async function canMakeDebianImage(context: SetupContext): Promise<boolean> {
  if (process.getuid?.() !== 0 || !existsSync(join(nodeFolder(context), "bin", "node"))) return false;
  return (await findProgram("apt-get")) !== undefined;
}

/** Makes the base image with debootstrap from a Debian mirror, and the Node that npm has installed. Takes minutes. */
export async function makeDebianImage(context: SetupContext, tag: string, packages: readonly string[]): Promise<void> {
  await installTools();
  // Not the temporary folder of the user, which may be small, or in memory, or without device files.
  const root = await mkdtemp("/var/tmp/crabpot-base-");
  try {
    const mirrors = await findMirrors();
    // libstdc++ and libatomic are what Node's binary links to.
    const include = [...packages, "libstdc++6", "libatomic1"].join(",");
    await run([
      "debootstrap",
      "--variant=minbase",
      `--keyring=${keyring}`,
      `--include=${include}`,
      release,
      root,
      mirrors.main,
    ]);
    await applyUpdates(root, mirrors);
    await copyFile(join(nodeFolder(context), "bin", "node"), join(root, "usr/local/bin/node"));
    await chmod(join(root, "usr/local/bin/node"), 0o755);
    await copyNpm(root);
    say(`base image: importing ${tag} …`);
    await importFolder(context, root, tag);
  } finally {
    // If debootstrap was stopped half-way, the kernel's file systems may still be mounted in there.
    await run(["rm", "-rf", "--one-file-system", root]);
  }
}

/** The npm that has installed crabpot itself: one folder that needs nothing but Node. */
async function copyNpm(root: string): Promise<void> {
  const program = await findProgram("npm");
  if (program === undefined) throw new AppError("setup_required", "There is no npm to give to the agents.");
  const folder = dirname(dirname(await realpath(program)));
  await cp(folder, join(root, "usr/local/lib/node_modules/npm"), {
    recursive: true,
    verbatimSymlinks: true,
  });
  await mkdir(join(root, "usr/local/bin"), { recursive: true });
  for (const name of ["npm", "npx"]) {
    await symlink(`../lib/node_modules/npm/bin/${name}-cli.js`, join(root, "usr/local/bin", name));
  }
}

function nodeFolder({ checkoutFolder }: SetupContext): string {
  return join(checkoutFolder, "node_modules", `node-linux-${process.arch}`);
}

async function installTools(): Promise<void> {
  if ((await findProgram("debootstrap")) !== undefined && existsSync(keyring)) return;
  await run(["apt-get", "update"]);
  await run(["apt-get", "install", "-y", "debootstrap", "debian-archive-keyring"]);
}

interface Mirrors {
  readonly main: string;
  readonly security: string;
}

/** The mirrors that the machine's own apt uses, if it is a Debian. */
async function findMirrors(): Promise<Mirrors> {
  const format = "$(LABEL) $(COMPONENT) $(REPO_URI)";
  const targets = await output(["apt-get", "indextargets", "--format", format, "Created-By: Packages"]);
  const address = (label: string): string | undefined =>
    new RegExp(`^${label} main (https?://\\S+?)/?$`, "m").exec(targets)?.[1];
  const main = address("Debian") ?? defaultMirror;
  return { main, security: address("Debian-Security") ?? `${main}-security` };
}

/** The release as it was last published lacks the security updates since then. */
async function applyUpdates(root: string, { main, security }: Mirrors): Promise<void> {
  const sources = [`deb ${main} ${release} main`, `deb ${main} ${release}-updates main`];
  const securitySource = `deb ${security} ${release}-security main`;
  await writeFile(join(root, "etc/apt/sources.list"), [...sources, securitySource, ""].join("\n"));
  try {
    await run(["chroot", root, "apt-get", "update"]);
    await run(["chroot", root, "apt-get", "upgrade", "-y"]);
  } catch (thrown) {
    say(`base image: continuing without the latest security updates: ${toError(thrown).message}`);
  }
}

async function importFolder({ builder }: SetupContext, root: string, tag: string): Promise<void> {
  const exclude = left.map((pattern) => `--exclude=${pattern}`);
  const command = ["-C", root, "--numeric-owner", "--sparse", ...exclude, "-cf", "-", "."];
  const tar = spawn("tar", command, { stdio: ["ignore", "pipe", process.stderr], env: commandEnvironment() });
  const ended = once(tar, "close");
  await Promise.all([builder.importRoot(tar.stdout, tag), ended]);
  if (tar.exitCode !== 0) {
    await builder.remove(tag);
    throw new AppError("setup_required", `tar ended with exit code ${tar.exitCode}; its output is above.`);
  }
}
