import { execFile, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdir, readFile, writeFile } from "node:fs/promises";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";

import { askVersion } from "../../src/sandbox/engine/docker/ask-version.ts";
import { openEngineAnswer } from "./engine-api.ts";
import { engineWithAgentImage } from "./engine.ts";
import { onDisk, temporaryFolder } from "./temporary-folder.ts";

const run = promisify(execFile);
const nobody = 65_534;

/** Its own Podman: own socket, own storage, nothing shared with the machine's engines. */
export interface Podman extends AsyncDisposable {
  readonly url: string;
}

/**
 * Podman must be there for its tests to mean anything: as root on a Debian or Ubuntu it is installed, elsewhere its
 * absence is an error that says what to do. Only the program: no service of the machine is started.
 */
export async function requirePodman(): Promise<void> {
  if (await isInstalled()) return;
  const packages = ["podman", "catatonit", "runc"];
  const advice = `The tests need Podman: apt-get install ${packages.join(" ")}`;
  if (process.getuid?.() !== 0) throw new Error(advice);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  await run("apt-get", ["install", "-y", "--no-install-recommends", ...packages], { env }).catch((cause: unknown) => {
    throw new Error(advice, { cause });
  });
}

async function isInstalled(): Promise<boolean> {
  return run("podman", ["--version"]).then(
    () => true,
    () => false,
  );
}

/** `rootless`: as an ordinary user, whoever runs the tests. */
export async function startPodman(mode: "rootful" | "rootless"): Promise<Podman> {
  await requirePodman();
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder(onDisk));
  const isRoot = process.getuid?.() === 0;
  if (mode === "rootful" && !isRoot) throw new Error("A rootful Podman needs root.");
  const env = await prepareFolder(folder.path);
  const user = mode === "rootless" && isRoot ? { uid: nobody, gid: nobody } : {};
  if ("uid" in user) await giveTo(folder.path, nobody);
  const url = `unix://${join(folder.path, "podman.sock")}`;
  const service = spawn("podman", ["system", "service", "--time=0", url], {
    ...user,
    env: { ...env, PATH: process.env["PATH"] },
    cwd: folder.path,
    // Rootless, it starts itself anew in its own namespace: they end as one group.
    detached: true,
    stdio: "ignore",
  });
  stack.defer(() => cleanUp(service, folder.path));
  await untilAnswers(url, service);
  const owned = stack.move();
  return { url, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Settings by which it needs no systemd, no privilege that a machine of tests may lack, and nothing of /etc. */
async function prepareFolder(folder: string): Promise<Record<string, string>> {
  const paths = {
    CONTAINERS_CONF: join(folder, "containers.conf"),
    CONTAINERS_STORAGE_CONF: join(folder, "storage.conf"),
  };
  const engine = ["[engine]", 'cgroup_manager = "cgroupfs"', 'events_logger = "file"', 'runtime = "runc"'];
  const limits = ["[containers]", 'default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]'];
  await writeFile(paths.CONTAINERS_CONF, [...engine, ...limits, ""].join("\n"));
  const storage = ["[storage]", 'driver = "overlay"', `runroot = "${folder}/run"`, `graphroot = "${folder}/root"`, ""];
  await writeFile(paths.CONTAINERS_STORAGE_CONF, storage.join("\n"));
  await mkdir(join(folder, "runtime"), { mode: 0o700 });
  return { ...paths, HOME: folder, XDG_RUNTIME_DIR: join(folder, "runtime") };
}

async function giveTo(folder: string, uid: number): Promise<void> {
  await chown(folder, uid, uid);
  await chown(join(folder, "runtime"), uid, uid);
  for (const name of ["containers.conf", "storage.conf"]) await chmod(join(folder, name), 0o644);
}

async function untilAnswers(url: string, service: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 2_000 && service.exitCode === null; tries += 1) {
    const answers = await askVersion({ url, namedBy: undefined }).then(
      () => true,
      () => false,
    );
    if (answers) return;
    await new Promise((next) => setTimeout(next, 20));
  }
  throw new Error("Podman did not answer.");
}

async function cleanUp(service: ChildProcess, folder: string): Promise<void> {
  if (service.pid !== undefined && service.exitCode === null) {
    const ended = once(service, "exit");
    process.kill(-service.pid, "SIGTERM");
    await ended;
  }
  // It leaves its storage mounted upon itself, which would keep the folder from being removed.
  const mounts = await readFile("/proc/self/mountinfo", "utf8");
  const targets = mounts.split("\n").flatMap((line) => line.split(" ")[4] ?? []);
  for (const target of targets.filter((path) => path.startsWith(`${folder}/`)).toReversed())
    await run("umount", [target]);
}

/** Copies the agent's image from the machine's engine, and returns its ID there: the same. */
export async function loadAgentImage(podman: Podman): Promise<string> {
  const { engine, image } = await engineWithAgentImage();
  const { address } = await engine.facts();
  await engine[Symbol.asyncDispose]();
  const archive = await openEngineAnswer(address.replace("unix://", ""), "GET", `/images/${image}/get`);
  const headers = { "content-type": "application/x-tar" };
  const socketPath = podman.url.slice("unix://".length);
  const load = request({ socketPath, method: "POST", path: "/images/load", headers });
  const answered = once(load, "response");
  await pipeline(archive, load);
  const [answer] = (await answered) as [IncomingMessage];
  await once(answer.resume(), "end");
  if (answer.statusCode !== 200) throw new Error(`Podman did not take the image: HTTP ${answer.statusCode ?? 0}`);
  return image;
}
