import { join } from "node:path";

import SQLite from "better-sqlite3";
import { pino } from "pino";
import { expect, test } from "vitest";

import type { NewEvent } from "../../../src/domain/events/event.ts";
import { IntakeGuard, type IntakeGuardOptions } from "../../../src/intake/limits/intake-guard.ts";
import { AppError } from "../../../src/lib/app-error.ts";
import { systemClock } from "../../../src/lib/time/clock.ts";
import { openSqliteStore } from "../../../src/stores/sqlite/open-sqlite-store.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

interface Rig extends AsyncDisposable {
  readonly guard: IntakeGuard;
  readonly records: NewEvent[];
  readonly probe: () => Promise<void>;
  /** Another program takes the store, until the result is closed. */
  hold(): SQLite.Database;
}

async function openRig(more: Partial<IntakeGuardOptions> = {}): Promise<Rig> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder());
  const path = join(folder.path, "store", "crabpot.sqlite");
  const store = stack.use(await openSqliteStore({ path, busyTimeoutMs: 20 }));
  const records: NewEvent[] = [];
  const guard = stack.use(
    new IntakeGuard({
      folder: folder.path,
      reserveBytes: 0,
      store,
      publish: async (record) => {
        records.push(record);
      },
      clock: systemClock,
      logger: pino({ enabled: false }),
      ...more,
    }),
  );
  guard.open();
  const owned = stack.move();
  return {
    guard,
    records,
    probe: () => store.probe(1),
    hold: () => {
      const other = new SQLite(path);
      other.exec("begin exclusive");
      return other;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test("a store that failed stops the intake until it can be written again, and both is on record", async () => {
  await using rig = await openRig();
  const other = rig.hold();
  const failure = await rig.probe().catch((error: unknown) => error);

  rig.guard.failed(failure);
  const during = rig.guard.state();
  other.close();
  await expect.poll(() => rig.guard.state()).toEqual({ open: true });

  expect(during).toMatchObject({ open: false, code: "store-failed" });
  expect(rig.records.map(({ type }) => type)).toEqual(["intake.stopped", "intake.resumed"]);
});

test("an audit log that failed stops the intake until something can be put on record", async () => {
  let broken = true;
  const publish = async (): Promise<void> => {
    if (broken) throw new AppError("audit_broken", "No room.", { passing: true });
  };
  await using rig = await openRig({ publish });

  rig.guard.failed(await publish().catch((error: unknown) => error));
  const during = rig.guard.state();
  broken = false;
  await expect.poll(() => rig.guard.state()).toEqual({ open: true });

  expect(during).toMatchObject({ open: false, code: "audit-failed" });
});

test("a fault that is not the machine's stops nothing", async () => {
  await using rig = await openRig();

  rig.guard.failed(new AppError("conflict", "It is there already."));
  rig.guard.failed(new Error("a bug"));

  expect(rig.guard.state()).toEqual({ open: true });
});

test("less space than is kept free stops the intake, and a reason without names or paths says so", async () => {
  await using rig = await openRig({ reserveBytes: Number.MAX_SAFE_INTEGER });

  const state = rig.guard.state();

  expect(state).toMatchObject({
    open: false,
    code: "disk-full",
    reason: expect.stringContaining("nearly full") as string,
  });
  expect(JSON.stringify(state)).not.toContain("/");
});

test("work that was held up waits until the store can be written, and not beyond its signal", async () => {
  await using rig = await openRig();
  const other = rig.hold();
  const stop = new AbortController();
  let isOver = false;

  const givenUp = rig.guard.untilWritable(stop.signal);
  const waited = rig.guard.untilWritable(new AbortController().signal).then(() => (isOver = true));
  await expect.poll(() => rig.guard.state().open).toBe(false);
  stop.abort();
  await givenUp;
  const before = isOver;
  other.close();
  await waited;

  expect(before).toBe(false);
});

test("nothing is taken in before the host is there nor once it stops, whatever the disk and the store say", async () => {
  await using rig = await openRig();
  const starting = new IntakeGuard({
    folder: "/",
    reserveBytes: 0,
    store: { probe: rig.probe },
    publish: async () => undefined,
    clock: systemClock,
    logger: pino({ enabled: false }),
  });

  const states = [starting.state()];
  starting.open();
  states.push(starting.state());
  starting.close();
  starting.open();
  states.push(starting.state());

  expect(states).toMatchObject([{ open: false, code: "starting" }, { open: true }, { open: false, code: "stopping" }]);
});
