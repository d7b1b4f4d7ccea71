import { parseArgs } from "node:util";

import { runSoak } from "../test/support/soak.ts";
import { troubles } from "../test/support/troubles.ts";
import type { TroubleName } from "../test/support/troubles.ts";

const number = { type: "string" } as const;
const { values } = parseArgs({
  options: {
    minutes: number,
    messages: number,
    seed: number,
    groups: { ...number, default: "20" },
    "fault-every-ms": { ...number, default: "3000" },
    faults: { type: "string" },
    output: { type: "boolean", default: false },
  },
  strict: true,
});

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const faults = values.faults?.split(",").map((name) => name.trim());
const unknown = faults?.filter((name) => !(name in troubles)) ?? [];
if (unknown.length > 0)
  throw new Error(`There is no fault ${unknown.join(", ")}; there are: ${Object.keys(troubles).join(", ")}.`);

say(`seed ${seed}`);
const result = await runSoak({
  seed,
  groups: Number(values.groups),
  minutes: values.messages === undefined ? Number(values.minutes ?? 5) : undefined,
  messages: values.messages === undefined ? undefined : Number(values.messages),
  faultEveryMs: Number(values["fault-every-ms"]),
  faults: faults as TroubleName[] | undefined,
  say,
});
if (values.output) say(result.hostOutput.join(""));
say(
  `faults: ${Object.entries(result.faults)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ")}`,
);
const reasons = Map.groupBy(result.notices, (text) => text.slice(0, 160));
for (const [reason, notices] of reasons) say(`notice (${notices.length}): ${reason}`);
say(`${result.accepted} messages accepted, ${result.replies} replies, of which ${result.notices.length} notices`);
for (const violation of result.violations) say(`VIOLATION: ${violation}`);
say(result.violations.length === 0 ? `clean (seed ${seed})` : `${result.violations.length} violations (seed ${seed})`);
process.exitCode = result.violations.length === 0 ? 0 : 1;
