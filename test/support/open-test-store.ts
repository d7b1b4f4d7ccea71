import { join } from "node:path";

import type { Store } from "../../src/stores/contract/store.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { openStoreAt } from "./open-store-at.ts";

/** A real store in its own folder (below `parent`) that is gone at the end of the scope. */
export async function openTestStore(parent?: string): Promise<{ readonly store: Store } & AsyncDisposable> {
  const folder = await temporaryFolder(parent);
  const store = await openStoreAt(join(folder.path, "home", "crabpot.sqlite"));
  return {
    store,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}
