import { AsyncLocalStorage } from "node:async_hooks";
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, open, readdir, readFile, rm } from "node:fs/promises";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";

import { errorCode } from "../../src/lib/app-error.ts";
import { openEngine } from "../../src/sandbox/engine/catalog.ts";
import type { ContainerEngine } from "../../src/sandbox/engine/engine.ts";
import { askEngine, openEngineAnswer } from "./engine-api.ts";
import { engineWithAgentImage } from "./engine.ts";
import { onDisk, temporaryFolder } from "./temporary-folder.ts";

const startLimitMs = 60_000;

/**
 * Its own dockerd, with its own containerd, folders and socket, that may be stopped, killed and frozen without
 * anybody else noticing. It has the agent's image. Needs root and an installed dockerd, and throws where one is
 * missing.
 */
export class PrivateEngine implements AsyncDisposable {
  readonly socket: string;
  readonly #folder: string;
  /** Whichever test starts it again, it belongs to whoever made it. */
  readonly #asItsMaker = AsyncLocalStorage.snapshot();
  #process: ChildProcess | undefined;
  #owned: AsyncDisposable | undefined;

  private constructor(folder: string) {
    this.#folder = folder;
    this.socket = join(folder, "d.sock");
  }

  static async start(): Promise<PrivateEngine> {
    if (process.getuid?.() !== 0) throw new Error("A dockerd of one's own needs root: run these tests as root.");
    await using stack = new AsyncDisposableStack();
    const { path } = stack.use(await temporaryFolder(onDisk));
    const engine = new PrivateEngine(path);
    stack.defer(() => engine.#clear());
    await engine.boot();
    await engine.#loadAgentImage();
    engine.#owned = stack.move();
    return engine;
  }

  /** For DOCKER_HOST. */
  get url(): string {
    return `unix://${this.socket}`;
  }

  get isRunning(): boolean {
    const process = this.#process;
    return process !== undefined && process.exitCode === null && process.signalCode === null;
  }

  /** Starts it (again) and waits until it answers. */
  async boot(): Promise<void> {
    if (this.isRunning) return;
    await using log = await open(join(this.#folder, "log"), "a");
    const folders = { data: join(this.#folder, "data"), exec: join(this.#folder, "exec") };
    // A daemon takes what it finds there for one that runs: where nobody reaps orphans, the numbers of killed ones stay
    // in use.
    for (const pid of [join(this.#folder, "pid"), join(folders.exec, "containerd/containerd.pid")])
      await rm(pid, { force: true });
    for (const folder of Object.values(folders)) await mkdir(folder, { recursive: true });
    const places = ["--data-root", folders.data, "--exec-root", folders.exec, "--pidfile", join(this.#folder, "pid")];
    const options = [...places, "--host", this.url, "--bridge=none", "--iptables=false"];
    // In its own namespaces: without a bridge to use, dockerd deletes docker0, which is another Docker's.
    this.#process = this.#asItsMaker(() =>
      spawn("unshare", ["--net", "--mount", "dockerd", ...options], {
        stdio: ["ignore", log.fd, log.fd],
        env: { PATH: process.env["PATH"] },
      }),
    );
    await once(this.#process, "spawn");
    await this.#untilItAnswers();
  }

  /** Ends it with a signal and waits for it: SIGTERM ends its containers first, SIGKILL leaves them alone. */
  async end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    const daemon = this.#process;
    if (!daemon || !this.isRunning) return;
    const exited = once(daemon, "exit");
    daemon.kill(signal);
    await exited;
  }

  /** It takes connections and answers nothing, until it is thawed. */
  freeze(): void {
    this.#process?.kill("SIGSTOP");
  }

  thaw(): void {
    this.#process?.kill("SIGCONT");
  }

  #open(): Promise<ContainerEngine> {
    return openEngine({ env: { DOCKER_HOST: this.url }, homeFolder: this.#folder });
  }

  async removeContainers(): Promise<void> {
    await using engine = await this.#open();
    for (const { id } of await engine.list({})) await engine.remove(id);
  }

  /** A request of the Engine API that the host itself never makes. */
  async ask(method: string, path: string): Promise<string> {
    return askEngine(this.socket, method, path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned?.[Symbol.asyncDispose]();
  }

  /** Containers that a killed dockerd left alone only end when one takes care of them again. */
  async #clear(): Promise<void> {
    this.thaw();
    await this.boot();
    await this.removeContainers();
    await this.end("SIGTERM");
    await this.#killShims();
  }

  /**
   * A dockerd that was killed while it made a container knows nothing of that one in its next life; the container's
   * shim, and what runs below it, outlive both.
   */
  async #killShims(): Promise<void> {
    const isOurs = async (pid: string): Promise<boolean> => {
      const command = await readFile(join("/proc", pid, "cmdline"), "utf8").catch(() => "");
      return command.includes("containerd-shim") && command.includes(this.#folder);
    };
    for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
      if (!(await isOurs(pid))) continue;
      const children = await readFile(join("/proc", pid, "task", pid, "children"), "utf8").catch(() => "");
      for (const each of [...children.split(" ").filter(Boolean), pid]) killIfRunning(Number(each));
    }
  }

  async #untilItAnswers(): Promise<void> {
    const deadline = performance.now() + startLimitMs;
    while (performance.now() < deadline && this.isRunning) {
      const answer = await this.ask("GET", "/_ping").catch(() => "");
      if (answer === "OK") return;
      await delay(50);
    }
    const log = await readFile(join(this.#folder, "log"), "utf8");
    throw new Error(`the private dockerd does not answer:\n${log.slice(-2_000)}`);
  }

  async #loadAgentImage(): Promise<void> {
    const { engine, image } = await engineWithAgentImage();
    const { address } = await engine.facts();
    const from = await openEngineAnswer(address.replace("unix://", ""), "GET", `/images/${image}/get`);
    const load = request({ socketPath: this.socket, method: "POST", path: "/images/load?quiet=1" });
    load.setHeader("content-type", "application/x-tar");
    const [[answer]] = await Promise.all([once(load, "response") as Promise<[IncomingMessage]>, pipeline(from, load)]);
    await text(answer);
    await engine[Symbol.asyncDispose]();
  }
}

function killIfRunning(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (errorCode(error) !== "ESRCH") throw error;
  }
}
