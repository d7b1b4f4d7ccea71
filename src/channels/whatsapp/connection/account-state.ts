import type { Clock } from "../../../lib/time/clock.ts";
import type { ChannelStateStore } from "../../../stores/contract/store.ts";
import { Directory } from "../incoming/directory.ts";
import { Recent } from "../outgoing/outlet.ts";
import { Sent } from "../outgoing/sent.ts";

/** Keys of the account in the store: the credentials are there when, and only when, an account is linked. */
interface AccountKeys {
  read(keys: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
  apply(changes: ReadonlyMap<string, Uint8Array | null>): Promise<void>;
}

/** State that outlives a connection, in the store and in memory. */
export class AccountState {
  readonly keys: AccountKeys;
  readonly journal: { readonly store: ChannelStateStore; readonly space: string };
  readonly recent = new Recent();
  readonly directory: Directory;
  readonly sent: Sent;
  /** Number of times in a row that the server refused the client's version. */
  refusedVersions = 0;
  readonly #store: ChannelStateStore;
  readonly #space: string;

  private constructor(store: ChannelStateStore, space: string, loaded: { directory: Directory; sent: Sent }) {
    this.#store = store;
    this.#space = space;
    this.directory = loaded.directory;
    this.sent = loaded.sent;
    this.journal = { store, space: `${space}/journal` };
    this.keys = {
      read: (keys) => store.read(space, keys),
      apply: (changes) => store.apply(space, changes),
    };
  }

  static async load(store: ChannelStateStore, space: string, clock: Pick<Clock, "now">): Promise<AccountState> {
    const directory = await Directory.load(store, `${space}/names`);
    const sent = await Sent.load(store, `${space}/sent`, clock);
    return new AccountState(store, space, { directory, sent });
  }

  async isLinked(): Promise<boolean> {
    return (await this.keys.read(["credentials"])).size > 0;
  }

  /** Moves the keys of an unlinked account aside, where nobody uses them. */
  async setAside(): Promise<void> {
    await this.#store.rename(this.#space, `${this.#space}/unlinked`);
  }
}
