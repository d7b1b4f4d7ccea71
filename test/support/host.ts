import { AsyncLocalStorage } from "node:async_hooks";
import { execFile } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { parse, stringify } from "yaml";

import { HostClient } from "../../src/surfaces/cli/host-client.ts";
import { homePaths } from "../../src/config/home/home.ts";
import { openEngine } from "../../src/sandbox/engine/catalog.ts";
import type { ContainerEngine } from "../../src/sandbox/engine/engine.ts";
import { HostProcess } from "../../redteam/suite/host-process.ts";
import { roomsOnThisMachine } from "./agent-room.ts";
import { agentsHereFor } from "./agents-in-process.ts";
import { commandOf, crabpot, environmentOf } from "./crabpot.ts";
import type { CommandResult } from "./crabpot.ts";
import { crashAtFile, crashAtVariable } from "./crash-points.ts";
import { surroundings } from "./engine.ts";
import { HostInTestProcess, type HostInTestProcessOptions } from "./host-in-test-process.ts";
import { agentsHereVariable, clockAheadVariable, type HostOptions, placeOf } from "./host-options.ts";
import { noteEngine } from "./made-by-tests.ts";
import { programPath } from "./programs.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** A program that dies where it is told to, and whose clock and agents may be special. */
export const crashingHost = programPath("crashing-host");

const token = "test-token-0123456789";

/** A line of `GET /v1/channels/http/replies`. */
export interface Reply {
  readonly seq: number;
  readonly group: string;
  readonly text: string;
  readonly inReplyTo: readonly string[];
  readonly replyTo: string | null;
  readonly thread: string | null;
  readonly turn: string | null;
  readonly kind: "reply" | "notice";
  readonly agent?: string;
}

export interface Said {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly id: string;
  readonly body: {
    readonly duplicate?: boolean;
    readonly error?: { readonly message: string; readonly reason?: string };
  };
}

export interface SayOptions {
  readonly id?: string;
  readonly sender?: { readonly id: string; readonly name: string };
  readonly mention?: boolean;
  readonly replyTo?: unknown;
  readonly thread?: string;
  readonly attachments?: readonly object[];
}

/** The folder of a host, and its options. */
interface Owned extends Omit<HostOptions, "config" | "groups"> {
  readonly folder: AsyncDisposable;
}

/**
 * A real host with its own home, spoken to as an outside program does: HTTP and the command line. It runs in the test's
 * process or in a separate one, as `HostOptions.process` says.
 */
export class TestHost implements AsyncDisposable {
  readonly home: string;
  readonly output: string[] = [];
  #run: HostProcess | HostInTestProcess | undefined;
  readonly #owned: Owned;
  readonly #variables: Readonly<Record<string, string>>;
  /** Whichever test starts it again, its process is of what it was made for: one test, or all of a file. */
  readonly #whereMade = AsyncLocalStorage.snapshot();

  private constructor(home: string, owned: Owned) {
    this.home = home;
    this.#owned = owned;
    this.#variables = owned.variables ?? {};
  }

  /** Groups by name get the HTTP channel and the trigger `mention` unless they say otherwise. */
  static async start(options: HostOptions = {}): Promise<TestHost> {
    const host = await TestHost.prepare(options);
    await host.boot();
    return host;
  }

  /** Everything but the process. */
  static async prepare(options: HostOptions = {}): Promise<TestHost> {
    const folder = await temporaryFolder(placeOf(options));
    const home = join(folder.path, "home");
    await mkdir(home, { mode: 0o700 });
    const groups = Object.entries(options.groups ?? { family: {} }).map(([name, group]) => [
      name,
      { channel: "http", chat: name, ...group },
    ]);
    const config = {
      channels: { http: {} },
      // Each start takes a port that is free then: one that was chosen before might be taken by another test meanwhile.
      gateway: { port: 0, token },
      groups: Object.fromEntries(groups) as object,
      // Tests talk faster than people: one sender, and the next message as soon as there is an answer.
      limits: { turnsPerHour: 0, loopTurns: 0 },
      ...options.config,
    };
    await writeFile(join(home, "config.yaml"), stringify(config), { mode: 0o600 });
    if (options.mounts) await writeFile(join(home, "mounts.json"), JSON.stringify(options.mounts), { mode: 0o600 });
    return new TestHost(home, { ...options, folder });
  }

  /** Another one in a copy of this one's home as it lies there, as `cp -a` makes it. It is not started. */
  async copy(): Promise<TestHost> {
    const folder = await temporaryFolder(placeOf(this.#owned));
    const home = join(folder.path, "home");
    await promisify(execFile)("cp", ["-a", this.home, home]);
    return new TestHost(home, { ...this.#owned, folder });
  }

  /** Address of the running process; unreachable while none listens. */
  get url(): string {
    return this.#run?.url ?? "http://127.0.0.1:0";
  }

  /** Number of its process. */
  get pid(): number {
    if (!(this.#run instanceof HostProcess)) throw new Error('This host has no process. To fix it: process: "own".');
    return this.#run.pid;
  }

  /** Starts it (again) and waits until it is ready. */
  async boot(variables: Readonly<Record<string, string>> = {}): Promise<void> {
    const {
      program,
      withoutContainers,
      process: wanted = withoutContainers === "all" ? "shared" : "own",
    } = this.#owned;
    const told = { ...this.#variables, ...variables };
    const isSpecial = [crashAtVariable, agentsHereVariable].some((name) => told[name] !== undefined);
    if (wanted === "own" || program !== undefined || isSpecial) this.launch(variables);
    else this.#begin(variables);
    if ((await this.#run?.becomesReady()) === true) return;
    const what = this.isRunning ? "was not ready in time" : "has ended";
    throw new Error(`the host ${what}:\n${this.output.join("")}`);
  }

  /** Starts it in the test's process and waits for nothing. `at`: the crash point at which it dies. */
  #begin(variables: Readonly<Record<string, string>>, at?: string): HostInTestProcess {
    noteEngine();
    const { withoutContainers: here = [], shellHere = false } = this.#owned;
    const { [clockAheadVariable]: aheadMs = "0", ...told } = { ...this.#variables, ...variables };
    const openRoom = shellHere ? roomsOnThisMachine(this.home) : undefined;
    const options: HostInTestProcessOptions = {
      home: this.home,
      environment: environmentOf({ home: this.home, variables: told }),
      onOutput: (text) => void this.output.push(text),
      launcher: (containers) => agentsHereFor(here, { containers, ...(openRoom && { openRoom }) }),
      canDie: here === "all",
      aheadMs: Number(aheadMs),
      at,
    };
    const run = this.#whereMade(() => new HostInTestProcess(options));
    this.#run = run;
    return run;
  }

  /**
   * Starts its own process and waits for nothing. It may be told more than the others: where to crash, say, or what
   * time it is.
   */
  launch(variables: Readonly<Record<string, string>> = {}): ChildProcess {
    const { withoutContainers: here, program } = this.#owned;
    const agents: Record<string, string> =
      here === undefined ? {} : { [agentsHereVariable]: here === "all" ? "*" : here.join(",") };
    const told: Record<string, string> = { ...this.#variables, ...agents, ...variables };
    const special = [crashAtVariable, agentsHereVariable, clockAheadVariable];
    const isSpecial = special.some((name) => told[name] !== undefined);
    const options = { home: this.home, variables: told, program: program ?? (isSpecial ? crashingHost : undefined) };
    noteEngine();
    const run = this.#whereMade(
      () =>
        new HostProcess({
          ...commandOf(options, "start"),
          onOutput: (text) => void this.output.push(text),
          // In good order, so that it leaves no containers.
          lastSignal: "SIGTERM",
        }),
    );
    this.#run = run;
    return run.child;
  }

  /**
   * Lives in the test's process from its start until it dies at this point; false: it did not get there. What is done
   * meanwhile may come to nothing.
   */
  async liveUntil(point: string, doing: () => Promise<unknown> = async () => undefined): Promise<boolean> {
    const life = this.#begin({}, point);
    const done = (await life.becomesReady()) ? doing().catch(() => undefined) : undefined;
    const isDead = await life.diesAt(undefined);
    await life.end("SIGKILL");
    await done;
    return isDead;
  }

  /**
   * Has the host die at this point while this is done, and starts it again. One with its own process must be a
   * `crashingHost`. It goes on from one point to the next without a start in good order between them. False: it did not
   * get there.
   */
  async dieAt(point: string, doing: () => Promise<unknown>): Promise<boolean> {
    const isDead = await (this.#run instanceof HostInTestProcess
      ? this.#dieHere(this.#run, point, doing)
      : this.#dieThere(point, doing));
    await this.end("SIGKILL");
    await this.boot();
    return isDead;
  }

  async #dieHere(run: HostInTestProcess, point: string, doing: () => Promise<unknown>): Promise<boolean> {
    const dies = run.diesAt(point);
    const done = doing().catch(() => undefined);
    const isDead = await dies;
    await run.end("SIGKILL");
    await done;
    return isDead;
  }

  async #dieThere(point: string, doing: () => Promise<unknown>): Promise<boolean> {
    const file = join(this.home, crashAtFile);
    await writeFile(`${file}.new`, point);
    await rename(`${file}.new`, file);
    const died = once(this.#run instanceof HostProcess ? this.#run.child : this.launch(), "exit", {
      signal: AbortSignal.timeout(120_000),
    });
    // The answer may die with the host.
    await doing().catch(() => undefined);
    const isDead = await died.then(
      () => true,
      () => false,
    );
    await rm(file);
    return isDead;
  }

  /** False when it has ended, or is not ready in time. */
  async isReadyWithin(limitMs: number): Promise<boolean> {
    for (const end = performance.now() + limitMs; this.isRunning && performance.now() < end;) {
      const ready = await fetch(`${this.url}/health/ready`).catch(() => undefined);
      if (ready?.ok) return true;
      await new Promise((next) => setTimeout(next, 20));
    }
    return false;
  }

  get isRunning(): boolean {
    return this.#run?.isRunning ?? false;
  }

  /** Ends it with a signal and waits for it. Returns the exit code, null after a fatal signal. */
  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    return this.#run?.end(signal) ?? null;
  }

  async say(group: string, text: string, options: SayOptions = {}): Promise<Said> {
    const id = options.id ?? randomUUID();
    const body = { sender: { id: "ann", name: "Ann" }, ...options, id, group, text };
    const answer = await this.post(body);
    const retryAfter = answer.headers.get("retry-after");
    return { status: answer.status, retryAfter, id, body: (await answer.json()) as Said["body"] };
  }

  /** Headers of each posted message. */
  get headers(): Record<string, string> {
    return { authorization: `Bearer ${token}`, "content-type": "application/json" };
  }

  async post(body: unknown, signal: AbortSignal | null = null): Promise<Response> {
    return fetch(`${this.url}/v1/channels/http/messages`, {
      method: "POST",
      headers: this.headers,
      body: JSON.stringify(body),
      signal,
    });
  }

  /** Posts a member's reaction to a reply. */
  async react(body: unknown): Promise<Response> {
    return fetch(`${this.url}/v1/channels/http/reactions`, {
      method: "POST",
      headers: this.headers,
      body: JSON.stringify(body),
    });
  }

  async get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${this.url}${path}`, { headers: { authorization: `Bearer ${token}`, ...headers } });
  }

  async replies(after = 0, waitSeconds = 0): Promise<Reply[]> {
    const answer = await this.get(`/v1/channels/http/replies?after=${after}&wait=${waitSeconds}`);
    return ((await answer.json()) as { replies: Reply[] }).replies;
  }

  /** The reply or notice that answers the message with this id, in the group where it is not the only one. */
  async replyTo(id: string, options: { waitSeconds?: number; group?: string } = {}): Promise<Reply> {
    const { waitSeconds = 120, group } = options;
    const deadline = Date.now() + waitSeconds * 1000;
    for (let after = 0; Date.now() < deadline;) {
      const replies = await this.replies(after, 5);
      const found = replies.find(
        (reply) => reply.inReplyTo.includes(id) && (group === undefined || reply.group === group),
      );
      if (found) return found;
      after = replies.at(-1)?.seq ?? after;
    }
    throw new Error(`no reply to ${id} in ${waitSeconds} s; the host said:\n${this.output.join("")}`);
  }

  /** Says something and waits for the answer. */
  async ask(group: string, text: string, options: SayOptions = {}): Promise<Reply> {
    const said = await this.say(group, text, options);
    if (said.status !== 202) throw new Error(`refused with ${said.status}: ${JSON.stringify(said.body)}`);
    return this.replyTo(said.id);
  }

  async cli(...args: string[]): Promise<CommandResult> {
    return crabpot({ home: this.home, variables: this.#variables }, ...args);
  }

  /**
   * Asks the running host what the command line asks it: a process for each look would take the machine from what is
   * looked at.
   */
  get control(): HostClient {
    return new HostClient(homePaths(this.home).controlSocket);
  }

  /** Changes top-level keys of the configuration; it counts from the next start on. */
  async changeConfig(change: object): Promise<void> {
    const file = join(this.home, "config.yaml");
    const config: unknown = parse(await readFile(file, "utf8"));
    await writeFile(file, stringify({ ...(config as object), ...change }), { mode: 0o600 });
  }

  async instance(): Promise<string> {
    return (await readFile(join(this.home, "instance"), "utf8")).trim();
  }

  /** Ids of the containers that carry this home's label, running or not. */
  async containers(): Promise<string[]> {
    await using engine = await this.openEngine();
    const found = await engine.list({ "crabpot.instance": await this.instance() });
    return found.map((container) => container.id).toSorted();
  }

  /** Those that a host which ended at once has left. */
  async removeContainers(): Promise<void> {
    await using engine = await this.openEngine();
    for (const id of await this.containers()) await engine.remove(id);
  }

  /** The group's container and the socket of its engine, as soon as there is one. */
  async containerOf(group: string): Promise<{ id: string; socketPath: string }> {
    await using engine = await this.openEngine();
    const labels = { "crabpot.instance": await this.instance(), "crabpot.group": group };
    for (const end = performance.now() + 60_000; performance.now() < end;) {
      const [found] = (await engine.list(labels)).filter(({ running }) => running);
      if (found) return { id: found.id, socketPath: (await engine.facts()).address.replace("unix://", "") };
      await new Promise((next) => setTimeout(next, 10));
    }
    throw new Error(`${group} has no container:\n${this.output.join("")}`);
  }

  /** The engine that the host uses. */
  openEngine(): Promise<ContainerEngine> {
    return openEngine({ ...surroundings, env: { ...surroundings.env, ...this.#variables } });
  }

  /** A file of a group's folder; empty when it is missing. */
  async readGroupFile(group: string, name: string): Promise<string> {
    return readFile(join(this.home, "groups", group, name), "utf8").catch(() => "");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end("SIGTERM");
    const left = await this.containers();
    await this.#owned.folder[Symbol.asyncDispose]();
    if (left.length > 0) throw new Error(`the host left containers behind: ${left.join(", ")}`);
  }
}
