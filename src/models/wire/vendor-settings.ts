import * as z from "zod";

import { isHeaderValue, notHeaderValue } from "../../lib/text/header-value.ts";

/** The settings of a vendor that is reached by HTTP with a key. */
export const vendorSettings = z.strictObject({
  // A key with a line end at its back is refused by every vendor, with words that nobody understands.
  apiKey: z.string().min(1).refine(isHeaderValue, notHeaderValue),
  baseUrl: z.url().optional(),
});

export type VendorSettings = z.output<typeof vendorSettings>;

/** The key, and the password that may stand in the URL. */
export function vendorSecrets({ apiKey, baseUrl }: VendorSettings): Readonly<Record<string, string>> {
  return { apiKey, ...(baseUrl !== undefined && { baseUrl: new URL(baseUrl).password }) };
}
