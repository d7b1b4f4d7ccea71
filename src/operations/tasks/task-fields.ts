import * as z from "zod";

import { missedRules, taskModes } from "../../domain/task.ts";

const short = z.string().min(1).max(256).optional();

/** What somebody may say of a task that is to be made, besides the group: on the control socket and over HTTP. */
export const taskFields = {
  prompt: z.string().min(1).max(16_000),
  name: short,
  at: short,
  every: short,
  cron: short,
  timezone: short,
  mode: z.enum(taskModes).optional(),
  missed: z.enum(missedRules).optional(),
};
