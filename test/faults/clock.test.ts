import { join } from "node:path";
import { PassThrough } from "node:stream";

import { pino } from "pino";
import { expect, test } from "vitest";

import { builtInAdapters } from "../../src/config/adapters.ts";
import { startHost } from "../../src/host/host.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import { prepareHome } from "../../src/config/home/home.ts";
import { loadConfig } from "../../src/config/loading/load.ts";
import { Redaction } from "../../src/lib/secrets/redaction.ts";
import { systemClock } from "../../src/lib/time/clock.ts";
import { crabpot, jsonLines } from "../support/crabpot.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const day = 24 * 3_600_000;

test("a clock that is set back by days changes no order, and the audit log still verifies", async () => {
  await using folder = await temporaryFolder();
  const crabpotHome = join(folder.path, "home");
  const environment = readEnvironment({ ...process.env, HOME: folder.path, CRABPOT_HOME: crabpotHome });
  const home = await prepareHome(crabpotHome);
  const loaded = await loadConfig(home.paths.config, {}, builtInAdapters);
  const [input, output] = [new PassThrough(), new PassThrough()];
  const answers: string[] = [];
  output.on("data", (chunk: Buffer) =>
    answers.push(...jsonLines(chunk.toString()).map((line) => String(line["text"]))),
  );
  let behindMs = 0;
  const clock = { now: () => Date.now() - behindMs, monotonic: () => systemClock.monotonic() };
  const console = { input, output, error: new PassThrough(), json: true, interactive: false };
  const logger = pino({ level: "silent" });
  const redaction = new Redaction(loaded.secrets);
  const foundation = { environment, home, loaded, version: "test", clock, logger, redaction };

  const app = await startHost({ ...foundation, console });
  for (const [index, behind] of [0, 3 * day, 1 * day, 5 * day].entries()) {
    behindMs = behind;
    input.write(`run echo answer-${index}\n`);
    await expect.poll(() => answers.length).toBe(index + 1);
  }
  await app.stop(AbortSignal.timeout(120_000));
  const verified = await crabpot({ home: crabpotHome }, "audit", "verify");

  expect(answers.map((answer) => /answer-\d/.exec(answer)?.[0])).toEqual([
    "answer-0",
    "answer-1",
    "answer-2",
    "answer-3",
  ]);
  expect(verified).toMatchObject({ code: 0 });
});
