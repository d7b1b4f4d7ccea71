import { AppError } from "../lib/app-error.ts";
import type { AuditWitness, EventReader, StoreDefinition, StoreReader, StoreSettings } from "./define-store.ts";
import type { HomeHolder, HomeOwner } from "./sqlite/home-lock.ts";
import { sqlite } from "./sqlite/definition.ts";
import type { Store } from "./contract/store.ts";

/** Every kind of store; the first is that of a home. */
const storeDefinitions: readonly StoreDefinition[] = [sqlite];

/**
 * Opens a store. Throws `config_invalid` for settings that it does not know, `store_failed` with the reason. One
 * process writes to a store: see `lockHome`.
 */
export async function openStore(settings: StoreSettings): Promise<Store> {
  const { definition, own } = choose(settings);
  return definition.open(own);
}

/**
 * Opens a store to read what a host has left in it, and changes nothing. Throws like `openStore`, also when there is no
 * store yet.
 */
export async function openStoreReader(settings: StoreSettings): Promise<StoreReader> {
  const { definition, own } = choose(settings);
  return definition.openReader(own);
}

/**
 * The audit head that a store remembers, read without changing the store: also while a host runs, also from a copy.
 * Throws like `openStore`.
 */
export async function openAuditWitness(settings: StoreSettings): Promise<AuditWitness> {
  const { definition, own } = choose(settings);
  return definition.openAuditWitness(own);
}

function choose({ kind, ...own }: StoreSettings): { definition: StoreDefinition; own: unknown } {
  const definition = storeDefinitions.find((candidate) => kind === undefined || candidate.kind === kind);
  if (!definition) throw new AppError("config_invalid", `There is no kind of store "${kind}".`);
  const parsed = definition.config.strict().safeParse(own);
  if (parsed.success) return { definition, own: parsed.data };
  const reasons = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "settings"}: ${message}`);
  throw new AppError("config_invalid", `A store cannot be opened with these settings: ${reasons.join("; ")}.`);
}

/** The events of a store, read without changing it. Throws like `openStore`, also when there are none. */
export async function openEventReader(settings: StoreSettings): Promise<EventReader> {
  const { definition, own } = choose(settings);
  return definition.openEventReader(own);
}

/**
 * Makes this process the only host of a home until the result is disposed or the process dies; AppError `host_running`
 * otherwise.
 */
export async function lockHome(folder: string, owner: HomeOwner): Promise<AsyncDisposable> {
  const { lockHome: lock } = await import("./sqlite/home-lock.ts");
  return lock(folder, owner);
}

/** The host that holds a home now; undefined when none does, whatever a dead one has left. */
export async function findHomeHolder(folder: string): Promise<HomeHolder | undefined> {
  const { findHomeHolder: find } = await import("./sqlite/home-lock.ts");
  return find(folder);
}
