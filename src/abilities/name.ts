import * as z from "zod";

/** What groups, routes, providers and the like are called. */
export const name = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,63}$/,
    "lower case letters, digits, - and _, at most 64, starting with a letter or digit",
  );
