import * as z from "zod";

import { defineProvider } from "../define-provider.ts";

/** The built-in scripted model: no vendor, no key, no intelligence. */
export const offline = defineProvider({
  kind: "offline",
  config: z.strictObject({}),
  defaultModel: "scripted",
  open: async (_settings, { name }) => {
    const { OfflineProvider } = await import("./offline-provider.ts");
    return new OfflineProvider(name);
  },
});
