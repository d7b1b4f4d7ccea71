import type { HomeOwner } from "./sqlite/home-lock.ts";
import type { EventStore } from "./event-store.ts";
import type { AuditIndex, Store } from "./store.ts";

/** Which store, and where. `path` is the database file; its folder is made if it is missing. */
export interface StoreSettings {
  readonly kind: "sqlite";
  readonly path: string;
}

/** Opens a store, or throws AppError `store_failed` with the reason. One process writes to a store: see `lockHome`. */
export async function openStore(settings: StoreSettings): Promise<Store> {
  const { openSqliteStore } = await import("./sqlite/open-sqlite-store.ts");
  return openSqliteStore({ path: settings.path });
}

/** The audit head that a store remembers, read without changing the store: also while a host runs, also from a copy. */
export async function openAuditWitness(
  settings: StoreSettings,
): Promise<Pick<AuditIndex, "head" | "signed"> & AsyncDisposable> {
  const { openSqliteAuditWitness } = await import("./sqlite/audit-witness.ts");
  return openSqliteAuditWitness(settings.path);
}

/** The events of a store, read without changing it. Throws AppError `store_failed` when there are none. */
export async function openEventReader(
  settings: StoreSettings,
): Promise<Pick<EventStore, "after" | "before"> & AsyncDisposable> {
  const { openSqliteEventReader } = await import("./sqlite/event-reader.ts");
  return openSqliteEventReader(settings.path);
}

/** Makes this process the only host of a home until the result is disposed or the process dies; AppError `host_running` otherwise. */
export async function lockHome(folder: string, owner: HomeOwner): Promise<AsyncDisposable> {
  const { lockHome: lock } = await import("./sqlite/home-lock.ts");
  return lock(folder, owner);
}
