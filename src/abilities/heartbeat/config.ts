import * as z from "zod";

import { name } from "../name.ts";

const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day in quotes, such as "08:00"');
const minutes = z
  .number()
  .int()
  .min(1)
  .max(24 * 60);

const fields = {
  from: timeOfDay.optional().describe("Not before this, by the clocks of the group's `timezone`; goes with `to`."),
  to: timeOfDay.optional().describe("Not after this; earlier than `from`: on the next day."),
  route: name.optional().describe("Which models are asked; left out: those of the group."),
};
const off = z.literal("off");
const error = 'must be off or { everyMinutes: 30, from: "08:00", to: "22:00", route: main }';

const heartbeat = z
  .union(
    [
      off,
      z.strictObject({
        everyMinutes: minutes.default(30).describe("How often, counted from `from` or from midnight."),
        ...fields,
      }),
    ],
    { error },
  )
  .default("off")
  .meta({
    description: "How often agents look by themselves at what HEARTBEAT.md of their group says; off: never.",
    examples: [{ everyMinutes: 30, from: "08:00", to: "22:00", route: "main" }],
  });

/** A key that a group leaves out is as for everybody. */
const groupHeartbeat = z
  .union([off, z.strictObject({ everyMinutes: minutes.optional(), ...fields })], { error })
  .optional();

/** The key `heartbeat` at the top and of groups. */
export const heartbeatConfig = {
  top: { heartbeat },
  ofGroup: { heartbeat: groupHeartbeat },
  effects: { heartbeat: "now" },
} as const;
