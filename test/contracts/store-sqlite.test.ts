import { openStoreReader } from "../../src/stores/catalog.ts";
import { storeContract } from "./store.ts";
import { openStoreAt } from "../support/open-store-at.ts";

storeContract("sqlite", {
  open: openStoreAt,
  openReader: (path) => openStoreReader({ kind: "sqlite", path }),
});
