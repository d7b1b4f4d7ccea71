import type { EnvironmentVariables } from "./environment.ts";
import type { ConfigFault } from "./faults.ts";
import type { ConfigInput } from "./schema.ts";

interface Vendor {
  readonly name: string;
  readonly kind: "anthropic" | "openai";
  readonly keyVariable: string;
  readonly urlVariable: string;
  /** The vendor's balanced model of late 2026. */
  readonly model: string;
}

/** In this order: with keys of both, the first one is used and the other one is left alone. */
const vendors: readonly Vendor[] = [
  {
    name: "anthropic",
    kind: "anthropic",
    keyVariable: "ANTHROPIC_API_KEY",
    urlVariable: "ANTHROPIC_BASE_URL",
    model: "claude-sonnet-5-5",
  },
  {
    name: "openai",
    kind: "openai",
    keyVariable: "OPENAI_API_KEY",
    urlVariable: "OPENAI_BASE_URL",
    model: "gpt-6.1-sol",
  },
];

/** The configuration of a home that has no `config.yaml`, and what to tell the operator about it. */
export function configFromEnvironment(variables: EnvironmentVariables): {
  readonly value: ConfigInput;
  readonly faults: readonly ConfigFault[];
  readonly announcements: readonly string[];
} {
  const vendor = vendors.find((candidate) => variables[candidate.keyVariable]);
  if (vendor === undefined) {
    const said =
      "No config.yaml and no ANTHROPIC_API_KEY or OPENAI_API_KEY: the built-in scripted model answers. It needs no key and has no intelligence.";
    return { value: {}, faults: [], announcements: [said] };
  }
  const baseUrl = variables[vendor.urlVariable];
  // Filled in by the same replacement that config.yaml goes through, as if it had been written there.
  const provider = {
    kind: vendor.kind,
    apiKey: `\${${vendor.keyVariable}}`,
    ...(baseUrl ? { baseUrl: `\${${vendor.urlVariable}}` } : {}),
  };
  const at = baseUrl ? ` at ${vendor.urlVariable}` : "";
  return {
    value: { models: { routes: { main: [`${vendor.name}/${vendor.model}`] }, providers: { [vendor.name]: provider } } },
    faults: [],
    announcements: [`No config.yaml, but ${vendor.keyVariable} is set: ${vendor.name}/${vendor.model}${at} answers.`],
  };
}
