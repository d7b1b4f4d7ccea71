import type * as z from "zod";

import type { Clock } from "../lib/time/clock.ts";
import type { Provider } from "./provider.ts";

/** One entry of `models.providers`: `kind` names the definition, the rest is what its schema allows. */
export interface ProviderSettings {
  readonly kind: string;
  readonly [setting: string]: unknown;
}

/** Ports of a provider, besides its settings. */
export interface ProviderPorts {
  /** The provider's key in `models.providers`. */
  readonly name: string;
  readonly clock: Clock;
  /** Longest silence of the vendor, before and within an answer, after which a call counts as failed. */
  readonly silenceMs: number;
}

/** Use of a provider by a home without a configuration, by a key in the environment. */
export interface EnvironmentUse {
  /** The variable that must be set for it. */
  readonly keyVariable: string;
  /** Settings and the variables that they are taken from, those that are set. */
  readonly settings: Readonly<Record<string, string>>;
  /** The model that answers. */
  readonly model: string;
}

/** A kind of model provider, as `models.providers.<name>.kind` names it. */
export interface ProviderDefinition<Settings = unknown> {
  readonly kind: string;
  /** Schema of its entry besides `kind`; unknown keys are refused. */
  readonly config: z.ZodObject;
  /** Keys and passwords by setting, to hide in logs, records and chats. */
  secrets?(settings: Settings): Readonly<Record<string, string>>;
  readonly environment?: EnvironmentUse | undefined;
  /** Server for providers with OpenAI's `/embeddings` or `/audio`. */
  server?(settings: Settings): { readonly baseUrl: string; readonly apiKey: string };
  /**
   * Makes the provider available in every home under its kind's name, with the settings of `{}`; this model answers
   * until another is set.
   */
  readonly defaultModel?: string | undefined;
  /** Loads the provider on first use; the caller disposes the result. */
  open(settings: Settings, ports: ProviderPorts): Promise<Provider>;
}

/**
 * Describes a kind of model provider, so that it can be configured. Its module should load quickly: `open` imports the
 * rest.
 */
export function defineProvider<Config extends z.ZodObject>(
  definition: Omit<ProviderDefinition<z.output<Config>>, "config"> & { readonly config: Config },
): ProviderDefinition<z.output<Config>> {
  return definition;
}
