import { configuredGroups } from "../../../../../config/configured/groups.ts";
import { resolveGroup } from "../../../../../config/resolve-group.ts";
import { espeakPackages } from "../../../../../domain/settings/speech.ts";
import type { Config } from "../../../../../config/schema/config.ts";
import { toError } from "../../../../../lib/app-error.ts";
import { ownCommand } from "../../../../../lib/process/own-command.ts";
import { LocalSpeechModel } from "../../../../../abilities/media/offline.ts";
import type { CommandContext } from "../../../context.ts";
import { type CheckResult, good, warning } from "../check.ts";

/** Whether voice messages are heard, and what speaks. Says nothing where that is not wanted. */
export async function checkVoice(context: CommandContext): Promise<CheckResult[]> {
  const { config } = await context.loadConfig();
  return [...(await checkHearing(context, config.media.transcription)), ...checkSpeech(config)];
}

function checkSpeech(config: Config): CheckResult[] {
  const { speech } = config.media;
  if (speech === "none") return [];
  if (typeof speech === "object" && "provider" in speech) {
    const { provider, model, voice } = speech;
    return [good("voice", `${provider} speaks voice messages of agents with ${model} (${voice}).`)];
  }
  const groups = configuredGroups(config).map(({ name }) => name);
  const able = groups.filter((name) => resolveGroup(config, { name }).speaks);
  if (able.length > 0) return [good("voice", `espeak-ng speaks voice messages of agents in ${able.join(", ")}.`)];
  const packages = `image: { apt: [${espeakPackages.join(", ")}] }`;
  return [warning("voice", "Agents cannot send voice messages: no group in config.yaml has espeak-ng.", packages)];
}

async function checkHearing(
  context: CommandContext,
  transcription: Config["media"]["transcription"],
): Promise<CheckResult[]> {
  if (transcription === "none") return [];
  if (transcription !== "local")
    return [good("voice", `${transcription.provider} transcribes voice messages with ${transcription.model}.`)];
  const model = new LocalSpeechModel(context.paths.root, context.environment.checkout);
  const install = ownCommand("media install-model");
  if (!model.isInstalled)
    return [warning("voice", "Voice messages are not transcribed: the local model is not installed.", install)];
  try {
    await model.hearSample();
    return [good("voice", "Voice messages are transcribed by the local model, in English.")];
  } catch (error) {
    return [warning("voice", `Voice messages are not transcribed: ${toError(error).message}.`, install)];
  }
}
