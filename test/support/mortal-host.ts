import { execFile } from "node:child_process";
import { cpSync, lstatSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { shell } from "../../container/agent/tools/shell.ts";
import type { ContainerTool } from "../../container/agent/tools/tool.ts";
import type { Host } from "../../src/host/host.ts";
import type { Interception } from "../../src/host/context.ts";
import { FakeChannel } from "../fakes/fake-channel.ts";
import { AgentsInProcess } from "./agents-in-process.ts";
import { createCrashPoints } from "./crash-points.ts";
import { startInProcess } from "./embedded-host.ts";
import { TestHost } from "./host.ts";
import type { HostOptions } from "./host-options.ts";
import { noteEngine } from "./made-by-tests.ts";
import { modelsAt, type ModelHostOptions } from "./model-host.ts";
import type { ModelScript, ModelServer } from "./model-servers/model-server.ts";
import { startOpenAiServer } from "./model-servers/openai.ts";

/** Time after which a crash point counts as never reached. */
const deathLimitMs = 120_000;

/** Agents whose shell runs its commands on this machine, in the folder of their group, or a sub-agent's own. */
function agentsWithShell(home: string): AgentsInProcess {
  return new AgentsInProcess((group, { id, kind }) => [
    shellIn(kind === "agent" ? join(home, "sessions", id, "scratch") : join(home, "groups", group)),
  ]);
}

function shellIn(cwd: string): ContainerTool {
  const run = async (input: unknown): Promise<string> => {
    const { command } = input as { readonly command: string };
    await mkdir(cwd, { recursive: true });
    return (await promisify(execFile)("sh", ["-c", command], { cwd })).stdout;
  };
  return { ...shell, run };
}

/** One life of a host: from its death on, no call of it has an effect. */
class Life {
  readonly dead = Promise.withResolvers<void>();
  readonly log: string[] = [];
  readonly agents: AgentsInProcess;
  at: string | undefined;
  host: Host | undefined;
  isDead = false;
  readonly #onDeath: () => void;

  constructor(at: string | undefined, agents: AgentsInProcess, onDeath: () => void) {
    this.at = at;
    this.agents = agents;
    this.#onDeath = onDeath;
  }

  get port(): number {
    return Number(/"port":(\d+),"msg":"the gateway listens"/.exec(this.log.join(""))?.[1] ?? 0);
  }

  intercept(): Interception {
    const points = createCrashPoints(
      () => this.at,
      () => this.#die(),
    );
    return {
      ...points,
      store: (store) => this.#ofTables(points.store(store)),
      audit: (append) => {
        const watched = points.audit(append);
        return (entry) => this.#unlessDead(() => watched(entry));
      },
      engine: (engine) => this.#watch(points.engine(engine), () => true),
      launcher: () => this.agents,
      mailbox: (mailbox) => this.#watch(points.mailbox(mailbox), (method) => method === "send"),
      channel: (channel) => this.#watch(points.channel(channel), (method) => method === "send"),
    };
  }

  end(): void {
    if (!this.isDead) this.#onDeath();
    this.isDead = true;
    this.dead.resolve();
  }

  #die(): never {
    this.end();
    throw new Error("this host is dead");
  }

  #ofTables<Store extends object>(store: Store): Store {
    const tables = new Map<PropertyKey, unknown>();
    return new Proxy(store, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value !== "object" || value === null) return value;
        const table = tables.get(key) ?? this.#watch(value, () => true);
        tables.set(key, table);
        return table;
      },
    });
  }

  #watch<Target extends object>(target: Target, isMeant: (method: string) => boolean): Target {
    return new Proxy(target, {
      get: (_target, key) => {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value !== "function" || typeof key === "symbol" || !isMeant(key)) return value;
        return (...given: unknown[]) => this.#unlessDead(() => Reflect.apply(value, target, given) as unknown);
      },
    });
  }

  /** Refuses calls of a dead host, asynchronously, as parallel calls expect. */
  #unlessDead<Result>(call: () => Result): Result | Promise<never> {
    try {
      if (!this.isDead) return call();
    } catch (error) {
      if (!this.isDead) throw error;
    }
    return Promise.reject(new Error("this host is dead"));
  }
}

/**
 * A host in the test's own process that dies at named moments, as by `kill -9`: from then on no call of it has an
 * effect, and its next life goes on with a copy of its home as it lay there at that moment. Agents are in the process,
 * too. It is for what depends on the order of writes alone: what the kernel and the container engine do at a death is
 * seen with processes only.
 */
export class MortalHost extends TestHost {
  readonly channel = new FakeChannel();
  readonly #variables: Readonly<Record<string, string>>;
  #life: Life | undefined;

  private constructor(prepared: TestHost, variables: Readonly<Record<string, string>>) {
    super(prepared.home, { folder: prepared, program: undefined, variables: {} });
    this.#variables = variables;
  }

  /** Everything but its first life. */
  static async prepareHere(options: HostOptions): Promise<MortalHost> {
    noteEngine();
    return new MortalHost(await TestHost.prepare(options), options.variables ?? {});
  }

  override get url(): string {
    return `http://127.0.0.1:${this.isRunning ? (this.#life?.port ?? 0) : 0}`;
  }

  override get isRunning(): boolean {
    return this.#life?.isDead === false;
  }

  override async boot(): Promise<void> {
    await this.#begin(undefined);
  }

  /**
   * Lives from its start until it dies at this point; false: it did not get there. What is done meanwhile may come to
   * nothing.
   */
  async liveUntil(point: string, doing: () => Promise<unknown> = async () => undefined): Promise<boolean> {
    await this.#begin(point).catch((error: unknown) => {
      if (this.isRunning) throw error;
    });
    const done = this.isRunning ? doing().catch(() => undefined) : undefined;
    const isDead = await this.#untilDead();
    await this.#bury();
    await done;
    return isDead;
  }

  /** The same for one that runs, which then goes on in its next life. */
  override async dieAt(point: string, doing: () => Promise<unknown>): Promise<boolean> {
    if (this.#life) this.#life.at = point;
    const done = doing().catch(() => undefined);
    const isDead = await this.#untilDead();
    await this.#bury();
    await done;
    await this.boot();
    return isDead;
  }

  /** In good order, or at once. */
  override async end(signal: NodeJS.Signals = "SIGTERM"): Promise<null> {
    if (signal === "SIGKILL") this.#life?.end();
    await this.#bury();
    return null;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
    await super[Symbol.asyncDispose]();
  }

  async #begin(at: string | undefined): Promise<void> {
    const life = new Life(at, agentsWithShell(this.home), () => copyHome(this.home, this.#kept));
    this.#life = life;
    const { channel } = this;
    const { log } = life;
    const variables = this.#variables;
    life.host = await startInProcess(this.home, { channel, log, variables, intercept: life.intercept() });
  }

  /** Beside the home: how it lay there when the host died. */
  get #kept(): string {
    return join(this.home, "..", "home-at-death");
  }

  async #untilDead(): Promise<boolean> {
    const life = this.#life;
    const late = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => late.resolve(false), deathLimitMs);
    const isDead = await Promise.race([life?.dead.promise.then(() => true), late.promise]);
    clearTimeout(timer);
    return isDead ?? false;
  }

  /** Cleans up after a dead host, including file effects that it could not finish. */
  async #bury(): Promise<void> {
    const life = this.#life;
    this.#life = undefined;
    try {
      await life?.host?.[Symbol.asyncDispose]();
    } catch (error) {
      if (!life?.isDead) throw error;
    }
    if (!life?.isDead) return;
    // By its file of this name a home knows whether it was copied.
    for (const name of (await readdir(this.home)).filter((each) => each !== "instance"))
      await rm(join(this.home, name), { recursive: true, force: true });
    await rm(join(this.#kept, "instance"), { force: true });
    copyHome(this.#kept, this.home);
    await rm(this.#kept, { recursive: true });
  }
}

/** At once, so that nothing happens meanwhile. */
function copyHome(from: string, to: string): void {
  cpSync(from, to, {
    recursive: true,
    preserveTimestamps: true,
    verbatimSymlinks: true,
    filter: (path) => !lstatSync(path).isSocket(),
  });
}

/** A mortal host whose model is a scripted server of the test. */
export interface MortalModelHost extends AsyncDisposable {
  readonly host: MortalHost;
  readonly model: ModelServer;
}

/** Starts one. `prepared`: it has not begun to live. */
export async function startMortalHost(script: ModelScript, options: ModelHostOptions = {}): Promise<MortalModelHost> {
  await using stack = new AsyncDisposableStack();
  const model = stack.use(await startOpenAiServer(script));
  const config = { models: modelsAt(model.url, options), ...options.config };
  const host = stack.use(await MortalHost.prepareHere({ ...options, config }));
  if (!options.prepared) await host.boot();
  const owned = stack.move();
  return { host, model, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
