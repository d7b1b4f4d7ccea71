import type { AuditType } from "../../src/records/audit/event-records.ts";
import type { ContainerEngine } from "../../src/sandbox/engine/engine.ts";
import type { HostPayload } from "../../src/protocol/messages.ts";
import type { Store } from "../../src/stores/contract/store.ts";
import { type Interception, noInterception } from "../../src/host/context.ts";

/** The name of a call, or undefined for one that nothing is wrapped around. */
type NameCall = (method: string, parameters: readonly unknown[]) => string | undefined;
/** The environment variable that says where the test's host dies; see `createCrashPoints`. */
export const crashAtVariable = "CRABPOT_CRASH_AT";
/** Beside a home: the same for a host that runs already. */
export const crashAtFile = "../crash-at";

type Around = (name: string, call: () => unknown) => unknown;

const auditTypes = {
  "host-start": true,
  "host-stop": true,
  "home-copied": true,
  "store-pruned": true,
  "config-loaded": true,
  "config-refused": true,
  "settings-changed": true,
  "engine-judged": true,
  "channel-state": true,
  "control-request": true,
  "message-in": true,
  command: true,
  "webhook-in": true,
  "webhook-refused": true,
  heartbeat: true,
  "access-refused": true,
  "pairing-request": true,
  "person-paired": true,
  "person-erased": true,
  "turn-start": true,
  "turn-end": true,
  delivery: true,
  "limit-hit": true,
  "intake-stopped": true,
  "intake-resumed": true,
  "chat-request": true,
  "chat-left": true,
  "group-added": true,
  "group-removed": true,
  "folder-adopted": true,
  "instructions-changed": true,
  "context-compacting": true,
  "context-refused": true,
  "context-compacted": true,
  "context-evicted": true,
  "model-request": true,
  "model-response": true,
  "tool-call": true,
  "tool-denied": true,
  "tool-result": true,
  "approval-asked": true,
  "approval-answered": true,
  "approval-decided": true,
  "approval-used": true,
  "review-begun": true,
  "review-ended": true,
  "origins-cleared": true,
  "memory-extracted": true,
  "memory-noted": true,
  "memory-stored": true,
  "memory-forgotten": true,
  "memory-cleaned": true,
  "picture-kept": true,
  "picture-refused": true,
  "picture-described": true,
  "media-failed": true,
  "session-read": true,
  "session-addressed": true,
  "agent-start": true,
  "agent-end": true,
  "mailbox-violation": true,
  "file-refused": true,
  "http-refused": true,
  watch: true,
  egress: true,
  redaction: true,
  "mount-verdict": true,
  "setuid-removed": true,
  "execution-point": true,
  "image-build": true,
  "image-built": true,
  "image-failed": true,
  "image-removed": true,
  "container-create": true,
  "job-start": true,
  "job-end": true,
  "container-start": true,
  "container-attested": true,
  "container-refused": true,
  "container-stop": true,
  "container-adopted": true,
  "container-orphan-removed": true,
  "container-output": true,
  "log-pruned": true,
  "audit-gap": true,
  "audit-recovered": true,
  "audit-broken": true,
  "store-older": true,
  schedule: true,
  "installed-changed": true,
  "plugin-refused": true,
  "plugin-ended": true,
  "skills-settled": true,
  "skill-refused": true,
  "skill-loaded": true,
  "skills-synced": true,
  "skill-changed": true,
  "mcp-installed": true,
  "mcp-opened": true,
  "mcp-closed": true,
  "mcp-failed": true,
  "mcp-changed": true,
  "mcp-allowed": true,
  "voice-asked": true,
  "voice-made": true,
  "voice-refused": true,
  "web-asked": true,
  "web-answered": true,
  "web-refused": true,
} as const satisfies Record<AuditType, true>;

const sends = {
  "script-request": true,
  "turn-start": true,
  "model-response": true,
  "model-failure": true,
  "tool-response": true,
  cancel: true,
  ping: true,
  "job-stop": true,
  shutdown: true,
} as const satisfies Record<HostPayload["type"], true>;

const channelMethods: readonly string[] = ["start", "send"];

/** Every name that can stand in `before:<name>#<count>` and `after:<name>#<count>`. */
export function listCrashPoints(parts: { readonly store: Store; readonly engine: ContainerEngine }): string[] {
  const tables = Object.entries(parts.store).filter((entry): entry is [string, object] => typeof entry[1] === "object");
  return [
    ...tables.flatMap(([table, methods]) => methodsOf(methods).map((method) => `${table}.${method}`)),
    ...Object.keys(auditTypes).map((type) => `record.${type}`),
    ...methodsOf(parts.engine).map((method) => `engine.${method}`),
    ...Object.keys(sends).map((type) => `mailbox.${type}`),
    ...channelMethods.map((method) => `channel.${method}`),
  ].toSorted();
}

/**
 * A host that dies, as by `kill -9`, at a named moment. `at` looks like `after:turns.finish#2`: once the second call of
 * it has resolved. Undefined: nothing crashes. Throws an error for what is no crash point by its form; a name that does
 * not exist is never reached. A function says where from some moment on, and calls count from then.
 */
export function createCrashPoints(
  at: string | (() => string | undefined) | undefined,
  crash: () => void = killThisProcess,
): Interception {
  if (at === undefined) return noInterception;
  const around = crashAround(at, crash);
  return {
    store: (store) => watchStore(store, around),
    audit: (append) => async (entry) => {
      await around(`record.${entry.type}`, () => append(entry));
    },
    engine: (engine) => watch(engine, around, (method) => `engine.${method}`),
    launcher: (launcher) => launcher,
    servers: (open) => open,
    mailbox: (mailbox) => watch(mailbox, around, nameSend),
    channel: (channel) =>
      watch(channel, around, (method) => (channelMethods.includes(method) ? `channel.${method}` : undefined)),
  };
}

/** Counts the calls of the one name that matters, and crashes before or after the one that is meant. */
function crashAround(at: string | (() => string | undefined), crash: () => void): Around {
  let point = typeof at === "string" ? parse(at) : undefined;
  let calls = 0;
  return (name, call) => {
    const said = point === undefined && typeof at === "function" ? at() : undefined;
    if (said !== undefined) point = parse(said);
    if (point === undefined) return call();
    const { moment, wanted, count } = point;
    if (name !== wanted) return call();
    calls += 1;
    if (calls !== count) return call();
    if (moment === "before") crash();
    const result = call();
    if (moment === "before") return result;
    return Promise.resolve(result).then((value) => {
      crash();
      return value;
    });
  };
}

function parse(at: string): { moment: string; wanted: string; count: number } {
  const [, moment, wanted, count] = /^(before|after):([a-zA-Z]+\.[A-Za-z-]+)(?:#(\d+))?$/.exec(at) ?? [];
  if (moment !== undefined && wanted !== undefined) return { moment, wanted, count: Number(count ?? 1) };
  throw new Error(`CRABPOT_CRASH_AT is "${at}", which is not a valid crash point, e.g. before:turns.finish#2.`);
}

function watchStore(store: Store, around: Around): Store {
  const tables = new Map<string | symbol, unknown>();
  for (const [name, table] of Object.entries(store) as [string, unknown][]) {
    if (typeof table === "object" && table !== null)
      tables.set(
        name,
        watch(table, around, (method) => `${name}.${method}`),
      );
  }
  return new Proxy(store, {
    get: (target, key) => tables.get(key) ?? bound(target, key),
  });
}

/** The object itself, but that calls of its methods go through `around`. */
function watch<Target extends object>(target: Target, around: Around, nameOf: NameCall): Target {
  return new Proxy(target, {
    get: (_target, key) => {
      const value = bound(target, key);
      if (typeof value !== "function" || typeof key === "symbol") return value;
      return (...parameters: unknown[]) => {
        const name = nameOf(key, parameters);
        const call = (): unknown => (value as (...given: unknown[]) => unknown)(...parameters);
        return name === undefined ? call() : around(name, call);
      };
    },
  });
}

/** A property as the object itself has it: private fields are out of reach for a proxy. */
function bound(target: object, key: string | symbol): unknown {
  const value: unknown = Reflect.get(target, key, target);
  return typeof value === "function" ? (value.bind(target) as unknown) : value;
}

function nameSend(method: string, [payload]: readonly unknown[]): string | undefined {
  return method === "send" ? `mailbox.${(payload as HostPayload).type}` : undefined;
}

function methodsOf(object: object): string[] {
  const prototype = Object.getPrototypeOf(object) as object;
  const named = prototype === Object.prototype ? object : prototype;
  return Object.getOwnPropertyNames(named).filter((name) => name !== "constructor");
}

/** Not an exit: nothing gets to run after it, as in a loss of power or an out-of-memory kill. */
function killThisProcess(): void {
  process.kill(process.pid, "SIGKILL");
}
