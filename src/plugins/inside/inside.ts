import type { Answers, CallContext, CallValue } from "../../processes/line.ts";
import type { plugin } from "../../processes/protocol.ts";
import { toHostToolOutput } from "../../tools/define-tool.ts";
import { type Definitions, describe } from "./describe.ts";
import type { Inside, PluginHost } from "./plugin-host.ts";
import { ServedChannels } from "./served-channels.ts";
import { ServedProviders } from "./served-providers.ts";

/** A plugin's process does this for the host: it runs the plugin's tools, and has its channels and providers open. */
export function answersOf(definitions: Promise<Definitions>, host: () => PluginHost): Answers<typeof plugin.process> {
  const inside: Inside = { definitions, host };
  return {
    describe: async () => describe(await definitions),
    toolRun: (value, context) => runTool(inside, value, context),
    ...new ServedChannels(inside).answers,
    ...new ServedProviders(inside).answers,
  };
}

async function runTool(
  { definitions, host }: Inside,
  { tool: name, input, settings, group, turn }: CallValue<typeof plugin.process, "toolRun">,
  { signal, id }: CallContext,
): Promise<{ output: string; isError: boolean }> {
  const tool = (await definitions).tools.get(name);
  if (!tool) throw new Error(`there is no tool ${name}`);
  const send = async ({ text }: { readonly text: string }): Promise<void> => {
    await host().call("send", { text }, { of: id });
  };
  // A tool of a plugin has no port but `send`: see `describe`.
  const own = Object.entries(settings).filter(([key]) => Object.hasOwn(tool.config?.shape ?? {}, key));
  const place = { group, turn, signal, settings: Object.fromEntries(own), send } as unknown as Parameters<
    typeof tool.run
  >[1];
  const result = await tool.run(input, place);
  const { output, isError } = toHostToolOutput(result);
  return { output: output.text, isError };
}
