import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * A program that tests cannot do without: as root on a Debian or Ubuntu its package is installed, elsewhere its absence
 * is an error that says what to do. Only the program: no service of the machine is started.
 */
export async function requireProgram(path: string, packageName: string): Promise<void> {
  if (await isThere(path)) return;
  const advice = `The tests need ${path}: apt-get install ${packageName}`;
  if (process.getuid?.() !== 0) throw new Error(advice);
  // The level at which services are not started, where no systemd decides.
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
  await run("apt-get", ["install", "-y", "--no-install-recommends", packageName], { env }).catch((cause: unknown) => {
    throw new Error(advice, { cause });
  });
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
