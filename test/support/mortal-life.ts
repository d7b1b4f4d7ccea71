import { cpSync, lstatSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

import type { Interception } from "../../src/host/context.ts";
import type { Launcher } from "../../src/sandbox/pool/launch.ts";
import type { Store } from "../../src/stores/contract/store.ts";
import { createCrashPoints } from "./crash-points.ts";

type TableName = {
  [Part in keyof Store]: Store[Part] extends (...given: never[]) => unknown ? never : Part;
}[keyof Store];

/** Methods of a part of the store that answer at once, from memory. */
type AnsweringAtOnce<Part> = {
  [Method in keyof Part]: Part[Method] extends (...given: never[]) => Promise<unknown> ? never : Method;
}[keyof Part];

/** All of them: of these nobody waits for an answer, and a refusal would be a promise without an owner. */
const atOnce: Readonly<Record<{ [Part in TableName]: AnsweringAtOnce<Store[Part]> }[TableName], true>> = {
  rewrites: true,
};

/**
 * One life of a host in the test's process: from its death on, no call of it has an effect, and its home is kept as it
 * lay there at that moment.
 */
export class MortalLife {
  /** Resolves at its death. */
  readonly dead = Promise.withResolvers<void>();
  /** The crash point at which it dies. */
  at: string | undefined;
  isDead = false;
  readonly #home: string;

  constructor(home: string, at: string | undefined) {
    this.#home = home;
    this.at = at;
  }

  /** Watches all that a host does outside its memory. */
  intercept(launcher: (containers: Launcher) => Launcher): Interception {
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
      launcher,
      mailbox: (mailbox) => this.#watch(points.mailbox(mailbox), (method) => method === "send"),
      channel: (channel) => this.#watch(points.channel(channel), (method) => method === "send"),
    };
  }

  /** Ends it now, as `kill -9` does. */
  end(): void {
    if (!this.isDead) copyHome(this.#home, this.#kept);
    this.isDead = true;
    this.dead.resolve();
  }

  /** Puts the home back to how it was at the death, once nothing of the host is left that could change it. */
  async bury(): Promise<void> {
    // By its file of this name a home knows whether it was copied.
    for (const name of (await readdir(this.#home)).filter((each) => each !== "instance"))
      await rm(join(this.#home, name), { recursive: true, force: true });
    await rm(join(this.#kept, "instance"), { force: true });
    copyHome(this.#kept, this.#home);
    await rm(this.#kept, { recursive: true });
  }

  get #kept(): string {
    return join(this.#home, "..", "home-at-death");
  }

  #die(): never {
    this.end();
    throw new Error("this host is dead");
  }

  #ofTables<Tables extends object>(store: Tables): Tables {
    const tables = new Map<PropertyKey, unknown>();
    return new Proxy(store, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value !== "object" || value === null) return value;
        const table = tables.get(key) ?? this.#watch(value, (method) => !(method in atOnce));
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

/** At once, so that nothing happens meanwhile. */
function copyHome(from: string, to: string): void {
  cpSync(from, to, {
    recursive: true,
    preserveTimestamps: true,
    verbatimSymlinks: true,
    filter: (path) => !lstatSync(path).isSocket(),
  });
}
