import type * as z from "zod";

import type { EventStore } from "./event-store.ts";
import type { AuditIndex, GroupStore, Store } from "./store.ts";

/** Which store, and where: `kind` names the definition (left out: the one of a home), the rest is what its schema asks for. */
export interface StoreSettings {
  readonly kind?: string;
  readonly [setting: string]: unknown;
}

/** What a store remembers of the audit log. */
export type AuditWitness = Pick<AuditIndex, "head" | "signed"> & AsyncDisposable;

/** The events of a store, to be read. */
export type EventReader = Pick<EventStore, "after" | "before"> & AsyncDisposable;

/** Whose the folders of groups are, to be read. */
export type FolderReader = Pick<GroupStore, "folders"> & AsyncDisposable;

/** A kind of store. */
export interface StoreDefinition<Settings = unknown> {
  readonly kind: string;
  /** What it needs to know besides its kind. */
  readonly config: z.ZodObject;
  /** Rejects with AppError `store_failed` and the reason. */
  open(settings: Settings): Promise<Store>;
  /** Reads without changing the store: also while a host runs, also from a copy. Rejects like `open`. */
  openAuditWitness(settings: Settings): Promise<AuditWitness>;
  /** The same for its events. */
  openEventReader(settings: Settings): Promise<EventReader>;
  /** The same for the owners of groups' folders. */
  openFolderReader(settings: Settings): Promise<FolderReader>;
}

/** Describes a kind of store. Its module should load quickly: `open` imports the rest. */
export function defineStore<Config extends z.ZodObject>(
  definition: Omit<StoreDefinition<z.output<Config>>, "config"> & { readonly config: Config },
): StoreDefinition<z.output<Config>> {
  return definition;
}
