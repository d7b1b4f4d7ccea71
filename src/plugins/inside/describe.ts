import * as z from "zod";

import type { ChannelDefinition } from "../../channels/define-channel.ts";
import type { ProviderDefinition } from "../../models/define-provider.ts";
import type { HostTool } from "../../tools/define-tool.ts";
import { pluginTraits } from "../format/described.ts";

/** Exports of a plugin's module, by kind and name. */
export interface Definitions {
  readonly tools: ReadonlyMap<string, HostTool>;
  readonly channels: ReadonlyMap<string, ChannelDefinition>;
  readonly providers: ReadonlyMap<string, ProviderDefinition>;
}

/** Sorts what `export default` gives: one definition or several. Throws an Error that says what is none. */
export function definitionsOf(exported: unknown): Definitions {
  const list: readonly unknown[] = Array.isArray(exported) ? exported : [exported];
  const found = { tools: new Map<string, HostTool>(), channels: new Map<string, ChannelDefinition>() };
  const providers = new Map<string, ProviderDefinition>();
  for (const each of list) {
    if (typeof each !== "object" || each === null)
      throw new Error("its default export is no definition: export default defineTool({ … }), or a list of such");
    if ("runs" in each && each.runs !== "host")
      throw new Error('a tool of a plugin runs in the host\'s place, not in the container: runs: "host"');
    if ("runs" in each) add(found.tools, "tool", (each as HostTool).name, each as HostTool);
    else if ("open" in each && "kind" in each)
      add(providers, "provider", (each as ProviderDefinition).kind, each as ProviderDefinition);
    else if ("open" in each && "name" in each)
      add(found.channels, "channel", (each as ChannelDefinition).name, each as ChannelDefinition);
    else throw new Error("something in its default export is neither a tool nor a channel nor a provider");
  }
  return { ...found, providers };
}

function add<Definition>(to: Map<string, Definition>, kind: string, name: string, definition: Definition): void {
  if (to.has(name)) throw new Error(`it has two of the ${kind} ${name}`);
  to.set(name, definition);
}

/** Description for the host. Throws an Error about anything that a plugin cannot have. */
export function describe({ tools, channels, providers }: Definitions): object[] {
  return [
    ...[...tools.values()].map(describeTool),
    ...[...channels.values()].map(describeChannel),
    ...[...providers.values()].map(describeProvider),
  ];
}

function describeTool(tool: HostTool): object {
  const { name, description, mainDescription, risk, timeoutSeconds, activity, asksAlways, right, channelTrait } = tool;
  const foreign = (tool.needs ?? []).find((need) => need !== "send");
  if (foreign !== undefined)
    throw new Error(`the tool ${name} needs ${foreign}; the tool of a plugin can have \`send\` alone`);
  if (tool.resolvePaths.length > 0)
    throw new Error(`the tool ${name} has resolvePaths, but a plugin reads no files of groups`);
  return {
    kind: "tool",
    name,
    description,
    mainDescription,
    input: schemaJson(tool.input),
    config: tool.config && schemaJson(tool.config),
    secrets: [],
    // Only the plugin's code could tell the risk of one call from that of another.
    risk: typeof risk === "string" ? risk : "high",
    timeoutSeconds,
    activity: activity && { doing: activity.doing, shows: activity.shows },
    asksAlways,
    needsVision: tool.needsVision === true,
    sends: tool.sends,
    right,
    channelTrait,
  };
}

const notOfChannels = ["canonicalId", "writtenId", "registersChats"] as const;

function describeChannel(channel: ChannelDefinition): object {
  const { name, traits = {}, variables = [], config } = channel;
  const has = notOfChannels.find((key) => channel[key] !== undefined);
  if (has) throw new Error(`the channel ${name} has ${has}, which the channel of a plugin cannot have`);
  if (variables.length > 0)
    throw new Error(`the channel ${name} wants variables of the environment; a plugin gets none, so take a setting`);
  const known: ReadonlySet<string> = new Set(Object.keys(pluginTraits.shape));
  const trait = Object.entries(traits).find(([key, value]) => value === true && !known.has(key))?.[0];
  if (trait !== undefined)
    throw new Error(`the channel ${name} has the trait ${trait}, which the channel of a plugin cannot have`);
  const kept = Object.entries(traits).filter(([key]) => known.has(key));
  return {
    kind: "channel",
    name,
    config: schemaJson(config),
    secrets: secretNames(channel),
    traits: Object.fromEntries(kept),
  };
}

const notOfProviders = ["environment", "defaultModel", "server"] as const;

function describeProvider(provider: ProviderDefinition): object {
  const { kind: name, config } = provider;
  const has = notOfProviders.find((key) => provider[key] !== undefined);
  if (has) throw new Error(`the provider ${name} has ${has}, which the provider of a plugin cannot have`);
  return { kind: "provider", name, config: schemaJson(config), secrets: secretNames(provider) };
}

function schemaJson(schema: z.ZodType): object {
  return z.toJSONSchema(schema, { io: "input", unrepresentable: "any", reused: "inline" });
}

/** Which settings `secrets` gives back, found out with a mark in place of each value. */
function secretNames(definition: {
  readonly config: z.ZodObject;
  secrets?(settings: unknown): Readonly<Record<string, string>>;
}): string[] {
  const names = Object.keys(definition.config.shape);
  try {
    const marks = Object.fromEntries(names.map((name) => [name, `mark of ${name}`]));
    const given = new Set(Object.values(definition.secrets?.(marks) ?? {}));
    return names.filter((name) => given.has(`mark of ${name}`));
  } catch {
    // It looks into its settings more closely than marks allow: every one of them counts.
    return names;
  }
}
