import { BufferJSON, initAuthCreds, proto } from "@whiskeysockets/baileys";
import type { AuthenticationCreds, SignalDataTypeMap, SignalKeyStore } from "@whiskeysockets/baileys";

/** Storage of the account's keys; `apply` resolves when they are on disk. */
export interface KeyStorage {
  read(keys: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
  apply(changes: ReadonlyMap<string, Uint8Array | null>): Promise<void>;
}

const credentialsKey = "credentials";

/** The account as the library needs it. What it is told to be saved is saved when `set` resolves. */
export interface AuthState {
  readonly creds: AuthenticationCreds;
  readonly keys: SignalKeyStore;
  /** Stores the credentials, once there is an account. */
  saveCreds(): Promise<void>;
  /** Resolves when everything that was asked to be stored is. */
  saved(): Promise<void>;
}

/** `isNew`: nothing of an earlier account is used. Undefined when there is no account and none is to be made. */
export async function openAuthState(storage: KeyStorage, isNew: boolean): Promise<AuthState | undefined> {
  const stored = isNew ? undefined : (await storage.read([credentialsKey])).get(credentialsKey);
  if (!isNew && !stored) return undefined;
  const creds = stored ? (decode(stored) as AuthenticationCreds) : initAuthCreds();
  const saving = new Set<Promise<void>>();
  const apply = async (changes: ReadonlyMap<string, Uint8Array | null>): Promise<void> => {
    const applying = storage.apply(changes);
    saving.add(applying);
    await applying.finally(() => saving.delete(applying));
  };
  return {
    creds,
    keys: keysOver(storage, apply),
    saveCreds: async () => {
      // Before that there is nothing worth keeping, and half an account would be taken for a whole one.
      if (creds.account) await apply(new Map([[credentialsKey, encode(creds)]]));
    },
    saved: async () => {
      while (saving.size > 0) await Promise.allSettled(saving);
    },
  };
}

function keysOver(storage: KeyStorage, apply: KeyStorage["apply"]): SignalKeyStore {
  return {
    get: async <Kind extends keyof SignalDataTypeMap>(kind: Kind, ids: string[]) => {
      const found = await storage.read(ids.map((id) => nameOf(kind, id)));
      const values: { [id: string]: SignalDataTypeMap[Kind] } = {};
      for (const id of ids) {
        const bytes = found.get(nameOf(kind, id));
        if (bytes) values[id] = revive(kind, decode(bytes)) as SignalDataTypeMap[Kind];
      }
      return values;
    },
    set: async (data) => {
      const changes = new Map<string, Uint8Array | null>();
      for (const [kind, values] of Object.entries(data)) {
        for (const [id, value] of Object.entries(values)) {
          changes.set(nameOf(kind, id), value === null || value === undefined ? null : encode(value));
        }
      }
      await apply(changes);
    },
  };
}

function nameOf(kind: string, id: string): string {
  return `${kind}/${id}`;
}

function revive(kind: string, value: unknown): unknown {
  return kind === "app-state-sync-key" ? proto.Message.AppStateSyncKeyData.fromObject(value as object) : value;
}

function encode(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value, BufferJSON.replacer));
}

function decode(bytes: Uint8Array): unknown {
  return JSON.parse(Buffer.from(bytes).toString("utf8"), BufferJSON.reviver);
}
