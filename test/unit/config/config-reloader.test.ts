import { setImmediate as nextTick } from "node:timers/promises";

import pino from "pino";
import { expect, test } from "vitest";

import { builtInAdapters } from "../../../src/config/adapters.ts";
import { ConfigReloader } from "../../../src/config/changes/config-reloader.ts";
import { LiveConfig } from "../../../src/config/changes/live-config.ts";
import type { ConfigCheck } from "../../../src/config/loading/load.ts";
import { type ConfigInput, configSchema } from "../../../src/config/schema/config.ts";
import type { NewEvent } from "../../../src/domain/events/event.ts";
import { AppError } from "../../../src/lib/app-error.ts";

function checked(input: ConfigInput): ConfigCheck {
  const config = configSchema(builtInAdapters).parse(input);
  return {
    ok: true,
    loaded: { config, adapters: builtInAdapters, announcements: [], warnings: [], secrets: [], fromFile: true },
  };
}

/** A reloader of files that the test writes down, in front of a configuration that it applies to. */
function openRig() {
  const live = new LiveConfig(configSchema(builtInAdapters).parse({}));
  const files = { config: checked({}), mounts: undefined as string | undefined };
  const seen = { applied: 0, events: [] as NewEvent[], told: [] as string[] };
  const trouble: { next: Error | undefined } = { next: undefined };
  const reloader = new ConfigReloader({
    running: () => live.current,
    readConfig: () => Promise.resolve(files.config),
    readMounts: () => Promise.resolve(files.mounts),
    apply: async ({ effective }) => {
      await nextTick();
      const error = trouble.next;
      trouble.next = undefined;
      if (error) throw error;
      seen.applied += 1;
      live.replace(effective);
    },
    reviewContainers: () => undefined,
    publish: async (event) => {
      await nextTick();
      seen.events.push(event);
    },
    tell: (text) => void seen.told.push(text),
    clock: { now: () => 1 },
    logger: pino({ level: "silent" }),
  });
  return { live, files, seen, trouble, reloader };
}

test("a change that needs a restart is there until it is taken back, and nothing is said of what stays as it is", async () => {
  const { files, seen, reloader } = openRig();

  files.config = checked({ gateway: { port: 1 }, timezone: "Europe/Paris" });
  const first = await reloader.reload();
  const second = await reloader.reload();
  files.config = checked({ timezone: "Europe/Paris" });
  const third = await reloader.reload();

  expect(first).toEqual({
    changed: ["timezone"],
    changes: [
      { path: "timezone", from: "UTC", to: "Europe/Paris", applies: "now" },
      { path: "gateway.port", from: 7788, to: 1, applies: "restart" },
    ],
    config: { state: "restart-needed", since: 1, restart: ["gateway.port"] },
  });
  expect(second).toEqual({ changed: [], changes: first.changes.slice(1), config: first.config });
  expect(third).toEqual({ changed: [], changes: [], config: { state: "applied", since: 1 } });
  expect(seen).toEqual({ applied: 2, events: [], told: [] });
});

test("a hundred requests at once read the files once more after the one that is under way", async () => {
  const { files, seen, live, reloader } = openRig();
  let reads = 0;

  files.config = checked({ timezone: "Europe/Paris" });
  const first = reloader.reload();
  await nextTick();
  const read = files.config;
  Object.defineProperty(files, "config", {
    get: () => ((reads += 1), reads === 0 ? read : checked({ timezone: "Asia/Tokyo" })),
  });
  await Promise.all(Array.from({ length: 100 }, () => reloader.reload()));
  await first;

  expect(reads).toBe(1);
  expect(seen.applied).toBe(2);
  expect(live.current.timezone).toBe("Asia/Tokyo");
});

test("what keeps a valid file from being applied is a fault of it; a machine in trouble is not", async () => {
  const { files, seen, trouble, live, reloader } = openRig();
  files.config = checked({ timezone: "Europe/Paris" });

  trouble.next = new AppError("store_failed", "The disk is full.", { passing: true });
  await expect(reloader.reload()).rejects.toThrow("The disk is full.");
  const passing = reloader.state();
  trouble.next = new AppError("setup_required", "groups/x is not its own folder.");
  const refused = await reloader.reload();
  const mended = await reloader.reload();

  expect(passing.state).toBe("applied");
  expect(refused).toEqual({
    changed: [],
    changes: [],
    config: { state: "invalid", since: 1, faults: ["config.yaml: groups/x is not its own folder."] },
  });
  expect(mended).toMatchObject({ changed: ["timezone"], config: { state: "applied" } });
  expect(live.current.timezone).toBe("Europe/Paris");
  expect(seen.told).toHaveLength(2);
});

test("whoever keeps the view of a configuration sees each change, and whoever keeps a version of it none", () => {
  const { live } = openRig();
  const [kept, before] = [live.view, live.current];
  const changes: string[] = [];
  live.onChange(() => changes.push(kept.timezone));

  live.replace(configSchema(builtInAdapters).parse({ timezone: "Europe/Paris" }));

  expect(kept.timezone).toBe("Europe/Paris");
  expect(before.timezone).toBe("UTC");
  expect(changes).toEqual(["Europe/Paris"]);
  expect(JSON.stringify(kept)).toBe(JSON.stringify(live.current));
});
