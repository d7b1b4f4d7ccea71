import { openStore } from "../../src/stores/catalog.ts";
import { storeContract } from "./store.ts";

storeContract("sqlite", (path) => openStore({ kind: "sqlite", path }));
