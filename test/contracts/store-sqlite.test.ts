import { openStore, openStoreReader } from "../../src/stores/catalog.ts";
import { storeContract } from "./store.ts";

storeContract("sqlite", {
  open: (path) => openStore({ kind: "sqlite", path }),
  openReader: (path) => openStoreReader({ kind: "sqlite", path }),
});
