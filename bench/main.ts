import { parseArgs } from "node:util";

import { big } from "./cases/big.ts";
import { burst } from "./cases/burst.ts";
import { coldTurn } from "./cases/cold-turn.ts";
import { crowd } from "./cases/crowd.ts";
import { fair } from "./cases/fair.ts";
import { flat } from "./cases/flat.ts";
import { frozenTurn } from "./cases/frozen-turn.ts";
import { history } from "./cases/history.ts";
import { idle } from "./cases/idle.ts";
import { mailbox } from "./cases/mailbox.ts";
import { memory } from "./cases/memory.ts";
import { memoryMillion } from "./cases/memory-million.ts";
import { money } from "./cases/money.ts";
import { pluginCall } from "./cases/plugin-call.ts";
import { prompts } from "./cases/prompts.ts";
import { recall } from "./cases/recall.ts";
import { adopt, agentStart, commands, start } from "./cases/starts.ts";
import { tasks } from "./cases/tasks.ts";
import { hotTurn, toolTurn } from "./cases/turns.ts";
import { watchedTurn } from "./cases/watched-turn.ts";
import type { Bench, BenchContext } from "./harness/bench.ts";
import { startHelper } from "./harness/child.ts";
import { describeFigure } from "./harness/figure.ts";

const benches: Readonly<Record<string, Bench>> = {
  mailbox,
  "hot-turn": hotTurn,
  "tool-turn": toolTurn,
  "watched-turn": watchedTurn,
  "frozen-turn": frozenTurn,
  "cold-turn": coldTurn,
  burst,
  fair,
  idle,
  start,
  adopt,
  commands,
  "agent-start": agentStart,
  history,
  big,
  memory,
  prompts,
  recall,
  tasks,
  "plugin-call": pluginCall,
};

/** Only when they are asked for by their names: they take long. */
const longBenches: Readonly<Record<string, Bench>> = { flat, crowd, money, "memory-million": memoryMillion };
const all = { ...benches, ...longBenches };

// Without a listener the process would end at once, and its hosts would go on.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

const { values, positionals } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    minutes: { type: "string", default: "30" },
  },
  allowPositionals: true,
  strict: true,
});
const names = positionals.length === 0 ? Object.keys(benches) : positionals;
const unknown = names.filter((name) => !Object.hasOwn(all, name));
if (unknown.length > 0) {
  process.stderr.write(`There is no bench ${unknown.join(", ")}; there are: ${Object.keys(all).join(", ")}.\n`);
  process.exitCode = 2;
} else if (!/^[1-9]\d{0,3}$/.test(values.minutes)) {
  process.stderr.write(`--minutes must be a whole number of minutes, not "${values.minutes}".\n`);
  process.exitCode = 2;
} else {
  await using model = await startHelper("model");
  const context: BenchContext = {
    quick: values.quick,
    minutes: Number(values.minutes),
    modelUrl: String(model.greeting),
    say,
  };
  for (const name of names) await run(name, context);
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** A bench that fails does not keep the others from being run. */
async function run(name: string, context: BenchContext): Promise<void> {
  try {
    for (const figure of (await all[name]?.(context)) ?? []) {
      process.stdout.write(`${values.json ? JSON.stringify(figure) : describeFigure(figure)}\n`);
    }
  } catch (error) {
    process.stderr.write(
      `${name} failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exitCode = 1;
  }
}
