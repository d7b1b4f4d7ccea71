import * as z from "zod";

import { configSchema } from "./schema.ts";

/** JSON Schema (2020-12) of what may be written in `config.yaml`, for editors and other programs. */
export function configJsonSchema(): Readonly<Record<string, unknown>> {
  return { title: "crabpot configuration", ...z.toJSONSchema(configSchema, { io: "input" }) };
}
