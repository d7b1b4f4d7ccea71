import * as z from "zod";

import { sourced, type Sourced } from "../../../domain/rights/sourced.ts";
import { escapeText } from "../../../lib/text/markup.ts";
import { missedRules, type Task, taskModes, type Timing } from "../../../domain/work/task.ts";

/** When a task is due; fields of tools that make and change tasks. */
export const timingFields = {
  at: z
    .string()
    .max(64)
    .optional()
    .describe("Once, at this time: 2026-01-15T09:00:00, by the clock of the zone unless it has an offset."),
  every: z.string().max(16).optional().describe('Again and again: "1m", "2h", "1d".'),
  cron: z.string().max(100).optional().describe('Five fields: "0 9 * * 1-5" is nine o\'clock on weekdays.'),
  timezone: z.string().max(64).optional().describe("IANA name. Left out: the zone in which you are told times."),
  missed: z.enum(missedRules).optional().describe("What becomes of times that passed while the host was off."),
} as const;

/** The same fields for another tool: what they mean is said once in a prompt. */
export function undescribed<Fields extends Readonly<Record<string, z.ZodType>>>(fields: Fields): Fields {
  const bare = Object.entries(fields).map(([key, field]) => [key, field.describe("")]);
  return Object.fromEntries(bare) as Fields;
}

/** Models are often wrong about it, and the safe one is as good as any. */
export const mode = z
  .preprocess(
    (given) => (taskModes.some((known) => known === given) ? given : "isolated"),
    z.enum(taskModes).optional(),
  )
  .describe("isolated: a new conversation for each run; group: in this one, which knows what was said.");

export const name = z.string().max(100).optional().describe("A short name by which people know it.");
export const taskId = z.string().min(1).max(64).describe("As list_tasks shows it.");

/** One line about a task, for the model; its name is as much its makers' as its prompt. */
export function describeTask({
  id,
  name: called,
  group,
  timing,
  timezone,
  next,
  state,
  reason,
  failures,
  mode: how,
  origin,
  lineage,
}: Task): Sourced {
  const due = next === undefined || state !== "active" ? "" : `, next ${new Date(next).toISOString()}`;
  const why = reason === undefined ? "" : ` (${reason})`;
  const failed = failures > 0 ? `, failed ${failures} times in a row` : "";
  return sourced(
    `${id} ${JSON.stringify(escapeText(called))} of ${group.name}: ${describeTiming(timing)} ${timezone}, ${how}, ${state}${why}${due}${failed}`,
    [origin, ...lineage.origins],
  );
}

function describeTiming(timing: Timing): string {
  if (timing.kind === "at") return `at ${new Date(timing.at).toISOString()}`;
  if (timing.kind === "cron") return `cron ${timing.cron}`;
  return timing.everyMs === 60_000 ? "every minute" : `every ${timing.everyMs / 60_000} minutes`;
}
