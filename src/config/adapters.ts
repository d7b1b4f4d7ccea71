import type * as z from "zod";

import { channelDefinitions } from "../channels/catalog.ts";
import { type MemberId, memberKey, parseMemberKey } from "../domain/people/person.ts";
import type { ChannelDefinition, ChannelTraits } from "../channels/define-channel.ts";
import { AppError } from "../lib/app-error.ts";
import { providerDefinitions } from "../models/catalog.ts";
import type { ProviderDefinition, ProviderSettings } from "../models/define-provider.ts";
import { toolsOfAbilities } from "../abilities/catalog.ts";
import { builtInTools, type Tool } from "../tools/catalog.ts";

/** Adapters that can be configured: channels, kinds of model providers and tools. */
export interface Adapters {
  readonly channels: readonly ChannelDefinition[];
  readonly providers: readonly ProviderDefinition[];
  readonly tools: readonly Tool[];
  /** Installed plugins whose tools have settings. */
  readonly plugins?: readonly ConfigurablePlugin[] | undefined;
}

/** A plugin as `plugins.<name>` of the configuration can set it. */
export interface ConfigurablePlugin {
  readonly name: string;
  /** Schema of `settings`. */
  readonly config: z.ZodObject;
  readonly tools: readonly string[];
  /** Its keys and passwords by setting. */
  secrets(settings: unknown): Readonly<Record<string, string>>;
}

/** Adapters that come with crabpot. */
export const builtInAdapters: Adapters = {
  channels: channelDefinitions,
  providers: providerDefinitions,
  tools: [...builtInTools, ...toolsOfAbilities],
};

/** Those of crabpot and more. Throws `bad_input` when two have the same name. */
export function withBuiltInAdapters(more: Partial<Adapters>): Adapters {
  const channels = [...builtInAdapters.channels, ...(more.channels ?? [])];
  const providers = [...builtInAdapters.providers, ...(more.providers ?? [])];
  const tools = [...builtInAdapters.tools, ...(more.tools ?? [])];
  requireDifferent(
    "tools",
    tools.map(({ name }) => name),
  );
  requireDifferent(
    "channels",
    channels.map(({ name }) => name),
  );
  requireDifferent(
    "kinds of providers",
    providers.map(({ kind }) => kind),
  );
  return { channels, providers, tools, plugins: more.plugins ?? [] };
}

function requireDifferent(what: string, names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new AppError("bad_input", `Two ${what} are called "${twice}".`);
}

/** Settings of the channels that every home has, by name. */
export function channelsOfEveryHome({ channels }: Adapters): Readonly<Record<string, object>> {
  const wanted = channels.filter(({ traits }) => traits?.inEveryHome);
  return Object.fromEntries(wanted.map(({ name, config }) => [name, config.parse({})]));
}

/** The providers that every home has; the first one answers where nothing else is set. */
export function providersOfEveryHome({ providers }: Adapters): readonly {
  readonly kind: string;
  readonly model: string;
  readonly settings: ProviderSettings;
}[] {
  return providers.flatMap(({ kind, config, defaultModel: model }) =>
    model === undefined ? [] : [{ kind, model, settings: { ...config.parse({}), kind } }],
  );
}

/** True when this channel is configured and has the trait. */
export function hasTrait(
  { config, adapters }: { readonly config: { readonly channels: object }; readonly adapters: Adapters },
  channel: string,
  trait: keyof ChannelTraits,
): boolean {
  if (!Object.hasOwn(config.channels, channel)) return false;
  return adapters.channels.find(({ name }) => name === channel)?.traits?.[trait] ?? false;
}

/** True when the settings of this channel turn all its chats into groups. */
export function registersChats(
  {
    config,
    adapters,
  }: { readonly config: { readonly channels: Readonly<Record<string, object>> }; readonly adapters: Adapters },
  channel: string,
): boolean {
  if (!Object.hasOwn(config.channels, channel)) return false;
  const definition = adapters.channels.find(({ name }) => name === channel);
  return definition?.registersChats?.(config.channels[channel]) ?? false;
}

/** Returns why this channel cannot have such a chat, as the end of a sentence; undefined when it can. */
export function chatFault({ channels }: Pick<Adapters, "channels">, channel: string, chat: string): string | undefined {
  return channels.find(({ name }) => name === channel)?.judgeChat?.(chat);
}

/** Returns why nobody on the channel can have this id, as the end of a sentence; undefined when somebody can. */
export function senderFault({ channels }: Pick<Adapters, "channels">, { channel, id }: MemberId): string | undefined {
  return channels.find(({ name }) => name === channel)?.judgeSender?.(id);
}

/** Returns the key that messages use for the person of this key in the configuration. */
export function canonicalKey({ channels }: Pick<Adapters, "channels">, key: string): string {
  const who = parseMemberKey(key);
  const channel = who && channels.find(({ name }) => name === who.channel);
  return who && channel?.canonicalId ? memberKey({ ...who, id: channel.canonicalId(who.id) }) : key;
}
