import type * as z from "zod";

import type { ApprovalReader, GrantStore } from "./contract/approval-store.ts";
import type { EventStore } from "./contract/event-store.ts";
import type { AuditIndex, Store, TurnReader } from "./contract/store.ts";
import type { SubAgentReader } from "./contract/sub-agent-store.ts";
import type { TableStores } from "./tables.ts";

/**
 * Kind and settings of a store: `kind` names the definition (by default that of a home), the rest follows its schema.
 */
export interface StoreSettings {
  readonly kind?: string;
  readonly [setting: string]: unknown;
}

/** A store's knowledge of the audit log. */
export type AuditWitness = Pick<AuditIndex, "head" | "signed"> & AsyncDisposable;

/** The events of a store, to be read. */
export type EventReader = Pick<EventStore, "after" | "before"> & AsyncDisposable;

/** Read-only access to a stopped host's store. */
export interface StoreReader extends TableStores, AsyncDisposable {
  readonly messages: Pick<Store["messages"], "ofTurn" | "waitingByGroup" | "withSeqs">;
  readonly groups: Pick<Store["groups"], "folder" | "folders" | "list">;
  readonly chats: Pick<Store["chats"], "get" | "list" | "members" | "allMembers">;
  readonly sessions: Pick<Store["sessions"], "list" | "offered" | "prompt">;
  readonly summaries: Pick<Store["summaries"], "cover" | "entries" | "entryCount">;
  readonly turns: TurnReader;
  readonly work: Pick<Store["work"], "list">;
  readonly approvals: ApprovalReader & Pick<GrantStore, "grants">;
  readonly jobs: Pick<Store["jobs"], "list">;
  readonly tasks: Pick<Store["tasks"], "get" | "idsBeginningWith" | "list" | "runs">;
  readonly subAgents: SubAgentReader;
  readonly origins: Pick<Store["origins"], "ofFolder">;
  readonly outbox: Pick<Store["outbox"], "list" | "ofTurn">;
  readonly usage: Pick<Store["usage"], "learnedWindows" | "sums" | "tokenFactors">;
  readonly settings: Pick<Store["settings"], "history">;
  readonly channelState: Pick<Store["channelState"], "list">;
}

/** A kind of store. */
export interface StoreDefinition<Settings = unknown> {
  readonly kind: string;
  /** Schema of its settings besides the kind. */
  readonly config: z.ZodObject;
  /** Rejects with AppError `store_failed` and the reason. */
  open(settings: Settings): Promise<Store>;
  /** Reads without changing the store: also while a host runs, also from a copy. Rejects like `open`. */
  openAuditWitness(settings: Settings): Promise<AuditWitness>;
  /**
   * Opens what is there, to be read: makes, migrates and changes no file. Rejects like `open`, also where there is no
   * store, or one of another version.
   */
  openReader(settings: Settings): Promise<StoreReader>;
  /** The same as `openAuditWitness` for its events. */
  openEventReader(settings: Settings): Promise<EventReader>;
}

/** Describes a kind of store. Its module should load quickly: `open` imports the rest. */
export function defineStore<Config extends z.ZodObject>(
  definition: Omit<StoreDefinition<z.output<Config>>, "config"> & { readonly config: Config },
): StoreDefinition<z.output<Config>> {
  return definition;
}
