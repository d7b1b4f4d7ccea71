import { spawn } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";

import { expect, test } from "vitest";

import { openStore } from "../../../src/stores/catalog.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const fixture = resolve(import.meta.dirname, "../../fixtures/stores/dying-migrator.ts");

test.each([4, 8, 12, 16, 25, 33])(
  "a host that is killed after %i statements of its first start leaves a store that the next start can use",
  async (statements) => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "crabpot.sqlite");

    const [, signal] = (await once(spawn(process.execPath, [fixture, path, String(statements)]), "exit")) as [
      number | null,
      NodeJS.Signals | null,
    ];
    await using store = await openStore({ kind: "sqlite", path });

    expect(signal).toBe("SIGKILL");
    expect(await store.turns.running()).toEqual([]);
  },
);
