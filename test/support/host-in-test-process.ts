import { logLevel } from "../../src/config/changes/log-level.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import { prepareHome } from "../../src/config/home/home.ts";
import { adaptersWith, openInstalledPlugins } from "../../src/config/loading/installed-plugins.ts";
import { describeWarning, loadConfig } from "../../src/config/loading/load.ts";
import { type Host, startHost } from "../../src/host/host.ts";
import { toError } from "../../src/lib/app-error.ts";
import { createLogger } from "../../src/lib/process/logger.ts";
import { Redaction } from "../../src/lib/secrets/redaction.ts";
import { systemClock } from "../../src/lib/time/clock.ts";
import type { Launcher } from "../../src/sandbox/pool/launch.ts";
import { lockHome } from "../../src/stores/catalog.ts";
import { isSoon } from "../../redteam/suite/waiting.ts";
import { MortalLife } from "./mortal-life.ts";

/** Time after which a crash point counts as never reached. */
const deathLimitMs = 120_000;
/** Time for running turns to end after a stop request, as in a process. */
const drainMs = 10_000;

export interface HostInTestProcessOptions {
  readonly home: string;
  /** All of its environment. */
  readonly environment: NodeJS.ProcessEnv;
  /** Gets each piece of what it says. */
  readonly onOutput: (text: string) => void;
  readonly launcher: (containers: Launcher) => Launcher;
  /** False when it has containers, which outlive a death that only the test's process sees. */
  readonly canDie: boolean;
  /** The crash point at which it dies. */
  readonly at?: string | undefined;
  /** Milliseconds that its clock is ahead. */
  readonly aheadMs: number;
}

/**
 * A host in the test's own process, where it starts in a fifth of the time that a process takes. It dies as by `kill
 * -9` where nothing is about containers: from then on no call of it has an effect, and its home is put back to how it
 * lay there at that moment.
 */
export class HostInTestProcess {
  readonly #options: HostInTestProcessOptions;
  readonly #life: MortalLife;
  readonly #listens = Promise.withResolvers<void>();
  readonly #stopAsked = Promise.withResolvers<void>();
  readonly #startStopped = new AbortController();
  readonly #ended: Promise<number | null>;
  #isRunning = true;
  #port = 0;

  constructor(options: HostInTestProcessOptions) {
    this.#options = options;
    this.#life = new MortalLife(options.home, options.at);
    void this.#life.dead.promise.then(() => this.#startStopped.abort(new Error("this host is dead")));
    this.#ended = this.#run();
  }

  get isRunning(): boolean {
    return this.#isRunning && !this.#life.isDead;
  }

  /** Address of the gateway; unreachable until it listens. */
  get url(): string {
    return `http://127.0.0.1:${this.isRunning ? this.#port : 0}`;
  }

  /** Waits until it takes messages. False when it has ended instead. */
  async becomesReady(): Promise<boolean> {
    await this.#listens.promise;
    const isReady = async (): Promise<boolean> =>
      (await fetch(`${this.url}/health/ready`).catch(() => undefined))?.ok === true;
    await isSoon(async () => !this.isRunning || (await isReady()), 20);
    return this.isRunning;
  }

  /** Ends it in good order, or at once. Resolves with the exit code, null when it was killed. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    if (signal === "SIGKILL" && this.#options.canDie) this.#life.end();
    else if (signal !== "SIGTERM") throw new Error(`This host got ${signal}. To fix it: start it with process: "own".`);
    this.#stopAsked.resolve();
    this.#startStopped.abort(new Error("this host was told to stop"));
    return this.#ended;
  }

  /** Resolves when it has died at its crash point, with true, or when it has not got there in time. */
  async diesAt(point: string | undefined): Promise<boolean> {
    if (!this.#options.canDie) throw new Error('This host has containers. To fix it: start it with process: "own".');
    this.#life.at = point ?? this.#life.at;
    const late = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => late.resolve(false), deathLimitMs);
    const isDead = await Promise.race([this.#life.dead.promise.then(() => true), late.promise]);
    clearTimeout(timer);
    return isDead;
  }

  async #run(): Promise<number | null> {
    try {
      await this.#live();
      return this.#life.isDead ? null : 0;
    } catch (error) {
      if (this.#life.isDead) return null;
      if (error === this.#startStopped.signal.reason) return 0;
      this.#hear(`${toError(error).stack}\n`);
      return 1;
    } finally {
      this.#isRunning = false;
      this.#listens.resolve();
      if (this.#life.isDead) await this.#life.bury();
    }
  }

  async #live(): Promise<void> {
    await using owned = new AsyncDisposableStack();
    const host = await this.#start(owned);
    await Promise.race([this.#stopAsked.promise, host.stopAsked, this.#life.dead.promise]);
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), drainMs);
    void this.#life.dead.promise.then(() => limit.abort());
    await host.stop(limit.signal).finally(() => clearTimeout(timer));
  }

  /** The steps of the command `start`. */
  async #start(owned: AsyncDisposableStack): Promise<Host> {
    const environment = readEnvironment(this.#options.environment);
    const home = await prepareHome(environment.crabpotHome);
    const plugins = owned.use(await openInstalledPlugins(home.paths, environment.variables));
    const loaded = await loadConfig(home.paths.config, environment.variables, adaptersWith(plugins));
    plugins?.configure(loaded.config.plugins);
    owned.use(await lockHome(home.paths.root, { pid: process.pid, startedAt: systemClock.now() }));
    const redaction = new Redaction(loaded.secrets);
    const logger = createLogger({
      level: logLevel(loaded.config, false),
      output: { write: (text: string) => this.#hear(text) },
      format: "json",
      file: home.paths.hostLog,
      redact: redaction.redact,
    });
    for (const line of [...loaded.announcements, ...loaded.warnings.map(describeWarning)])
      this.#hear(`crabpot: ${line}\n`);
    const { launcher, aheadMs } = this.#options;
    const interception = this.#life.intercept(launcher);
    return startHost(
      {
        environment,
        home,
        loaded,
        logger,
        redaction,
        plugins,
        interception,
        version: "test",
        clock: { ...systemClock, now: () => systemClock.now() + aheadMs },
        console: undefined,
      },
      this.#startStopped.signal,
    );
  }

  #hear(text: string): void {
    if (this.#life.isDead) return;
    this.#options.onOutput(text);
    if (this.#port !== 0) return;
    this.#port = Number(/"port":(\d+),"msg":"the gateway listens"/.exec(text)?.[1] ?? 0);
    if (this.#port !== 0) this.#listens.resolve();
  }
}
