import * as z from "zod";

import type { Adapters } from "../adapters.ts";
import { configSchema } from "./config.ts";

/** JSON Schema (2020-12) of what may be written in `config.yaml`, for editors and other programs. */
export function configJsonSchema(adapters: Adapters): Readonly<Record<string, unknown>> {
  // What an adapter from elsewhere checks in a way that JSON Schema has no words for may be anything there.
  const schema = z.toJSONSchema(configSchema(adapters), { io: "input", unrepresentable: "any" });
  return { title: "crabpot configuration", ...schema };
}
