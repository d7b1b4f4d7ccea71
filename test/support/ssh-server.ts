import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { requireProgram } from "./debian-program.ts";
import { engineWithAgentImage } from "./engine.ts";
import { freePort } from "./free-port.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const run = promisify(execFile);

/** A real sshd on a port of the loopback, and a client's configuration that knows it. */
export interface SshServer extends AsyncDisposable {
  /** For DOCKER_HOST. */
  readonly url: string;
  /** With an `ssh` first in PATH that is the system's, configured for this server alone. */
  readonly env: Readonly<Record<string, string>>;
  /** Process ids of the `ssh` programs that run for it. */
  clients(): Promise<number[]>;
  /** The environments that they were started with. */
  environments(): Promise<string>;
  /** Is there a connection that new clients join? */
  isShared(): boolean;
  forgetHostKey(): Promise<void>;
  forgetClientKey(): Promise<void>;
}

/**
 * `path`: where the server looks for programs such as `docker`. `multiplexed`: clients share one connection to the server,
 * as it can be set in `~/.ssh/config`.
 */
export async function startSshServer({ path = "", multiplexed = false } = {}): Promise<SshServer> {
  await requireProgram("/usr/sbin/sshd", "openssh-server");
  await requireProgram("/usr/bin/ssh", "openssh-client");
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(await temporaryFolder());
  const port = await freePort();
  const inFolder = (name: string): string => join(folder, name);
  for (const name of ["host-key", "client-key"])
    await run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", inFolder(name)]);
  await writeFile(inFolder("authorized_keys"), await readFile(inFolder("client-key.pub")), { mode: 0o600 });
  await writeFile(inFolder("known_hosts"), `[127.0.0.1]:${port} ${await readFile(inFolder("host-key.pub"), "utf8")}`);
  await writeFile(inFolder("sshd_config"), await serverConfig(folder, port, path));
  await writeClient(folder, multiplexed);
  stack.defer(await startServer(inFolder("sshd_config"), port));
  if (multiplexed) stack.defer(() => endSharedConnection(folder));
  const owned = stack.move();
  return {
    url: `ssh://${userInfo().username}@127.0.0.1:${port}`,
    env: { PATH: `${inFolder("bin")}:${process.env["PATH"] ?? ""}` },
    clients: async () => (await linesOf(inFolder("pids"))).map(Number).filter(isAlive),
    environments: async () => (await linesOf(inFolder("environments"))).join("\n"),
    isShared: () => existsSync(inFolder("shared")),
    forgetHostKey: () => writeFile(inFolder("known_hosts"), ""),
    forgetClientKey: () => writeFile(inFolder("authorized_keys"), ""),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function serverConfig(folder: string, port: number, path: string): Promise<string> {
  const { engine } = await engineWithAgentImage();
  const { address } = await engine.facts();
  await engine[Symbol.asyncDispose]();
  // Privileges are separated in this folder, which only a service of the system's makes.
  if (process.getuid?.() === 0) await mkdir("/run/sshd", { recursive: true, mode: 0o755 });
  const variables = [`DOCKER_HOST=${address}`, ...(path === "" ? [] : [`PATH=${path}`])];
  return [
    `Port ${port}`,
    "ListenAddress 127.0.0.1",
    `HostKey ${folder}/host-key`,
    `AuthorizedKeysFile ${folder}/authorized_keys`,
    "AuthenticationMethods publickey",
    "PermitRootLogin prohibit-password",
    "StrictModes no",
    "UsePAM no",
    "PidFile none",
    // The contract suite opens many at once.
    "MaxStartups 100",
    `SetEnv ${variables.join(" ")}`,
    "",
  ].join("\n");
}

/** `ssh` takes its configuration from the home folder of the user database, not from $HOME: it must be told. */
async function writeClient(folder: string, multiplexed: boolean): Promise<void> {
  const config = [
    `UserKnownHostsFile ${folder}/known_hosts`,
    "GlobalKnownHostsFile /dev/null",
    `IdentityFile ${folder}/client-key`,
    "IdentitiesOnly yes",
    "IdentityAgent none",
    ...(multiplexed ? ["ControlMaster auto", `ControlPath ${folder}/shared`] : []),
    "",
  ];
  await writeFile(join(folder, "ssh_config"), config.join("\n"));
  await mkdir(join(folder, "bin"));
  const lines = [
    "#!/bin/sh",
    `echo $$ >>${folder}/pids`,
    `env >>${folder}/environments`,
    `exec /usr/bin/ssh -F ${folder}/ssh_config "$@"`,
    "",
  ];
  await writeFile(join(folder, "bin/ssh"), lines.join("\n"), { mode: 0o755 });
}

async function endSharedConnection(folder: string): Promise<void> {
  await run("/usr/bin/ssh", ["-F", join(folder, "ssh_config"), "-O", "exit", "anything"]).catch(() => undefined);
}

/** Resolves, with what ends it, when it listens. */
async function startServer(configuration: string, port: number): Promise<() => Promise<void>> {
  const server = spawn("/usr/sbin/sshd", ["-D", "-e", "-f", configuration], { stdio: ["ignore", "ignore", "pipe"] });
  const ended = once(server, "exit");
  const listening = Promise.withResolvers<void>();
  let said = "";
  server.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    said += chunk;
    if (said.includes(`port ${port}.`)) listening.resolve();
  });
  void ended.then(() => listening.reject(new Error(`sshd has ended:\n${said}`)));
  await listening.promise;
  return async () => {
    server.kill("SIGTERM");
    await ended;
  };
}

async function linesOf(path: string): Promise<string[]> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text.split("\n").filter((line) => line !== "");
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
