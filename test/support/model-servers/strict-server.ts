import { messagesFormat } from "./anthropic.ts";
import { startModelServer } from "./model-server.ts";
import type { ModelScript, ModelServer } from "./model-server.ts";
import { chatFormat } from "./openai.ts";
import { responsesFormat } from "./responses.ts";
import { strictVendors } from "./strict/vendors.ts";

/** Configuration of this vendor's provider, besides its address. */
export function settingsOf(vendor: string): { readonly kind: string; readonly api?: string; readonly apiKey: string } {
  const apiKey = "sk-test-key";
  if (vendor.startsWith("anthropic")) return { kind: "anthropic", apiKey };
  return vendor === "openai-responses" ? { kind: "openai", api: "responses", apiKey } : { kind: vendor, apiKey };
}

/** A server that refuses what the vendor's own refuses, and answers all else as the script says. */
export function startStrictServer(vendor: string, script: ModelScript): Promise<ModelServer> {
  const strict = strictVendors[vendor];
  if (!strict) throw new Error(`There is no strict server of ${vendor}.`);
  const formats = [messagesFormat, chatFormat, responsesFormat];
  const format = formats.find(({ completionPath }) => completionPath === strict.path) ?? chatFormat;
  const { refuse, error } = strict;
  return startModelServer({ ...format, refuse, error }, script);
}
