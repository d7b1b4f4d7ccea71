import { parseArgs } from "node:util";

import { runSoak } from "../test/support/soak.ts";
import type { SoakResult } from "../test/support/soak.ts";
import { troubles } from "../test/support/troubles.ts";
import type { TroubleName } from "../test/support/troubles.ts";

const text = { type: "string" } as const;
const { values } = parseArgs({
  options: {
    minutes: text,
    messages: text,
    seed: text,
    groups: { ...text, default: "20" },
    "fault-every-ms": { ...text, default: "3000" },
    faults: text,
    "host-log": { type: "boolean", default: false },
  },
  strict: true,
});

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function chosenFaults(): TroubleName[] | undefined {
  const names = values.faults?.split(",").map((name) => name.trim());
  const unknown = names?.filter((name) => !(name in troubles)) ?? [];
  if (unknown.length === 0) return names as TroubleName[] | undefined;
  throw new Error(`There is no fault ${unknown.join(", ")}; there are: ${Object.keys(troubles).join(", ")}.`);
}

function report(result: SoakResult, seed: number): void {
  if (values["host-log"]) say(result.hostOutput.join(""));
  const faults = Object.entries(result.faults).map(([name, count]) => `${name} ${count}`);
  say(`faults: ${faults.join(", ")}`);
  for (const [reason, notices] of Map.groupBy(result.notices, (notice) => notice.slice(0, 200)))
    say(`notice (${notices.length}): ${reason}`);
  say(`${result.accepted} messages accepted, ${result.replies} replies, of which ${result.notices.length} notices`);
  for (const violation of result.violations) say(`VIOLATION: ${violation}`);
  const verdict = result.violations.length === 0 ? "clean" : `${result.violations.length} violations`;
  say(`${verdict} (to replay: npm run soak -- --seed ${seed} and the same options)`);
}

const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const enough = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    say("stopping: checking what was sent (once more to end at once)");
    enough.abort();
  });
}
say(`seed ${seed}`);
const result = await runSoak({
  seed,
  groups: Number(values.groups),
  minutes: values.messages === undefined ? Number(values.minutes ?? 5) : undefined,
  messages: values.messages === undefined ? undefined : Number(values.messages),
  faultEveryMs: Number(values["fault-every-ms"]),
  faults: chosenFaults(),
  say,
  enough: enough.signal,
});
report(result, seed);
process.exitCode = result.violations.length === 0 ? 0 : 1;
