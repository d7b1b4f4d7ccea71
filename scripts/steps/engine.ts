import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { openEngine } from "../../src/sandbox/engine/catalog.ts";
import type { Surroundings } from "../../src/sandbox/engine/surroundings.ts";
import { AppError } from "../../src/lib/app-error.ts";
import { commandEnvironment, findProgram, run } from "./command.ts";
import { say } from "./say.ts";

const installCommands = ["apt-get update", "apt-get install -y docker.io"];
const logPath = "/var/log/crabpot-dockerd.log";
/** A first start makes its storage and network; a machine under load has been seen to take 20 s. */
const startLimitMs = 90_000;
const otherDaemonLimitMs = 5_000;

/** Finds a container engine, or installs and starts Docker where that can be done. Gives words about what it found. */
export async function ensureEngine(surroundings: Surroundings): Promise<string> {
  try {
    return await describe(surroundings);
  } catch (thrown) {
    // Only of the usual places does the error say that set-up can help; an engine that the user names is the user's.
    if (!(thrown instanceof AppError) || thrown.fix !== "npm run setup") throw thrown;
    say(`engine: ${thrown.message}`);
    await provideDocker(surroundings, thrown);
    return describe(surroundings);
  }
}

async function provideDocker(surroundings: Surroundings, absence: AppError): Promise<void> {
  const isDebian = existsSync("/etc/debian_version") && (await findProgram("apt-get")) !== undefined;
  const isInstalled = (await findProgram("dockerd")) !== undefined;
  if (!isInstalled && !isDebian) {
    throw byHand(absence, "install Docker, see https://docs.docker.com/get-started/get-docker/, and start it");
  }
  const install = isInstalled ? [] : installCommands;
  if (process.getuid?.() !== 0) throw byHand(absence, asRoot(absence, install));
  for (const command of install) {
    say(`engine: ${command} …`);
    await run(command.split(" "));
  }
  // The package may have started it.
  if (!(await answers(surroundings))) await start(surroundings);
}

async function describe(surroundings: Surroundings): Promise<string> {
  await using engine = await openEngine(surroundings);
  const facts = await engine.facts();
  return `${facts.kind} ${facts.version} at ${facts.address}`;
}

async function answers(surroundings: Surroundings): Promise<boolean> {
  try {
    await describe(surroundings);
    return true;
  } catch {
    return false;
  }
}

function asRoot(absence: AppError, install: readonly string[]): string {
  const join = 'sudo usermod -aG docker "$USER"';
  const commands = [...install, startCommand()].map((command) => `sudo ${command}`);
  const needed = absence.message.includes("permission denied") ? [join] : [...commands, join];
  return `${needed.join(" && ")}, then log in again`;
}

function byHand(absence: AppError, fix: string): AppError {
  return new AppError("setup_required", "There is no container engine that set-up can use, and it cannot make one.", {
    cause: absence,
    fix,
  });
}

function hasSystemd(): boolean {
  return existsSync("/run/systemd/system");
}

function startCommand(): string {
  return hasSystemd() ? "systemctl enable --now docker" : "service docker start";
}

async function start(surroundings: Surroundings): Promise<void> {
  if (hasSystemd()) {
    say(`engine: ${startCommand()} …`);
    await run(startCommand().split(" "));
    if (await answersInTime(surroundings, () => false)) return;
    throw new AppError("setup_required", "Docker was started by systemd and does not answer.", {
      fix: "journalctl --unit docker",
    });
  }
  if (await startDaemon(surroundings, [])) return;
  // Machines without packet filters or bridges, such as some sandboxes. Our containers have no network anyway.
  if ((await logTail()).includes("network controller")) {
    say("engine: the machine cannot make container networks; starting without");
    if (await startDaemon(surroundings, ["--bridge=none", "--iptables=false"])) return;
  }
  throw new AppError("setup_required", `dockerd does not answer. The end of its log ${logPath}:\n${await logTail()}`, {
    fix: `dockerd; or read ${logPath}`,
  });
}

async function startDaemon(surroundings: Surroundings, options: readonly string[]): Promise<boolean> {
  say(`engine: ${["dockerd", ...options].join(" ")} in the background, log in ${logPath} …`);
  await using log = await open(logPath, "a");
  const program = (await findProgram("dockerd")) ?? "dockerd";
  const stdio = ["ignore", log.fd, log.fd] as const;
  const daemon = spawn(program, options, { stdio: [...stdio], env: commandEnvironment(), cwd: "/", detached: true });
  let hasEnded = false;
  for (const event of ["exit", "error"]) daemon.once(event, () => (hasEnded = true));
  daemon.unref();
  return await answersInTime(surroundings, () => hasEnded);
}

async function answersInTime(surroundings: Surroundings, hasEnded: () => boolean): Promise<boolean> {
  let deadline = performance.now() + startLimitMs;
  while (performance.now() < deadline) {
    if (await answers(surroundings)) return true;
    // It ends at once when another set-up has just started one.
    if (hasEnded()) deadline = Math.min(deadline, performance.now() + otherDaemonLimitMs);
    await delay(250);
  }
  return false;
}

async function logTail(): Promise<string> {
  const text = await readFile(logPath, "utf8");
  return text.split("\n").slice(-20).join("\n");
}
