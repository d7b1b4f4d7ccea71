import * as z from "zod";

import { skillNameFault } from "../domain/sandbox/skill.ts";

/** Name of a group, route, provider or the like. */
export const name = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,63}$/,
    "lower case letters, digits, - and _, at most 64, starting with a letter or digit",
  );

/** Skills by their names. */
export const skillNames = z
  .array(
    z.string().superRefine((text, context) => {
      const fault = skillNameFault(text);
      if (fault !== undefined) context.addIssue(fault);
    }),
  )
  .max(100);
