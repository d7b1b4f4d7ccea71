import { expect, test } from "vitest";

import { homePaths } from "../../../src/config/home/home.ts";
import { crabpot, crabpotProcess, newHome } from "../../support/crabpot.ts";
import { made } from "../../support/made-by-tests.ts";
import { openStoreAt } from "../../support/open-store-at.ts";

test("a command leaves nothing of itself in the process of its test, and finds nothing of it there", async () => {
  await using place = await newHome({ "config.yaml": "gateway: { token: '${TOKEN}' }" });
  const { exitCode } = process;
  process.env["TOKEN"] = "token-of-the-test";
  try {
    const refused = await crabpot(place, "config", "check");
    const told = await crabpot({ ...place, variables: { TOKEN: "token-0123456789" } }, "config", "check");

    expect([refused.code, told.code]).toEqual([1, 0]);
    expect(refused).toEqual(await crabpotProcess(place, "config", "check"));
    expect(process.exitCode).toBe(exitCode);
  } finally {
    delete process.env["TOKEN"];
  }
});

test("what would take away the locks of a store that the test has open is its own process", async () => {
  await using place = await newHome();
  const isProcess = async (...args: string[]): Promise<boolean> => {
    const before = made.processes.size;
    expect((await crabpot(place, ...args)).code).toBe(0);
    return made.processes.size > before;
  };

  const whileOpen: boolean[] = [];
  {
    await using store = await openStoreAt(homePaths(place.home).database);
    whileOpen.push(await isProcess("config", "check"), await isProcess("profiles", "list"));
    expect(await store.groups.list()).toEqual([]);
  }

  expect(whileOpen).toEqual([true, false]);
  expect(await isProcess("config", "check")).toBe(false);
});
