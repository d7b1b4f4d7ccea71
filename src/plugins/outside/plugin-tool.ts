import { sourced } from "../../domain/rights/sourced.ts";
import { toError } from "../../lib/app-error.ts";
import { ToolError } from "../../protocol/tools.ts";
import type { ToolRisk } from "../../protocol/tools.ts";
import { defineTool, type HostTool, type HostToolOutput } from "../../tools/define-tool.ts";
import type { DescribedTool } from "../format/described.ts";
import { validatorOf } from "../format/narrow-schema.ts";
import { type CallOptions, type CallValue, InvalidAnswer } from "../../processes/line.ts";
import type { plugin as protocol } from "../../processes/protocol.ts";
import type { RunningPlugin } from "./running-plugin.ts";

/** Current settings of a plugin. */
export interface PluginSettings {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly risk: Readonly<Record<string, ToolRisk>>;
}

/**
 * A tool of a plugin as one of the host's: policy, record and time are the host's business, the work is done in the
 * plugin's process.
 */
export function pluginTool(
  plugin: RunningPlugin,
  described: DescribedTool,
  settingsNow: () => PluginSettings | undefined,
): HostTool {
  const { name, description, mainDescription, timeoutSeconds, asksAlways, needsVision, right, channelTrait } =
    described;
  const { activity } = described;
  const tool = defineTool({
    name,
    description,
    input: validatorOf(described.input),
    runs: "host",
    risk: described.risk,
    timeoutSeconds,
    needsVision,
    asksAlways,
    needs: described.sends ? ["send"] : [],
    ...(activity && {
      activity: { doing: activity.doing, ...(activity.shows !== undefined && { shows: activity.shows }) },
    }),
    ...(mainDescription !== undefined && { mainDescription }),
    ...(right !== undefined && { right }),
    ...(channelTrait !== undefined && { channelTrait }),
    run: async (input, place) => {
      const send = "send" in place ? place.send : undefined;
      const { group, turn, signal } = place;
      const value = { tool: name, input, settings: { ...settingsNow()?.settings }, group, turn };
      const onAsked = async (asked: string, what: unknown): Promise<unknown> => {
        if (asked !== "send" || !send) throw new Error(`${name} has not said that it needs ${asked}`);
        await send({ text: (what as CallValue<typeof protocol.host, "send">).text });
        return null;
      };
      return run(plugin, value, { signal, onAsked });
    },
  });
  return {
    ...tool,
    isAway: () => plugin.refusal !== undefined || settingsNow() === undefined,
    get risk() {
      return settingsNow()?.risk[name] ?? atLeastMedium(described.risk);
    },
  };
}

/** Raises a risk to medium: strangers cannot declare their own code harmless. */
function atLeastMedium(risk: ToolRisk): ToolRisk {
  return risk === "low" ? "medium" : risk;
}

async function run(
  plugin: RunningPlugin,
  value: CallValue<typeof protocol.process, "toolRun">,
  options: CallOptions,
): Promise<HostToolOutput> {
  try {
    const { line } = await plugin.process();
    const { output, isError } = await line.call("toolRun", value, options);
    return { output: sourced(output, ["tool"]), isError };
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof ToolError) throw error;
    if (error instanceof InvalidAnswer) throw new ToolError(`${value.tool} gave an answer that is not valid.`);
    throw new ToolError(`${value.tool} failed: ${toError(error).message}`);
  }
}
