import { transcriberSource } from "../../config/configured/media.ts";
import { Media } from "../../abilities/media/media.ts";
import type { HearSound } from "../../domain/chats/message.ts";
import { createHearing } from "../../abilities/media/speech/hearing.ts";
import { speechFolder } from "../../abilities/media/speech/speech-model.ts";
import type { AppContext } from "../context.ts";
import { createSoundCalls, type GroupBudgets, type PaidContext, payFor, withBudget } from "./voice/sound-calls.ts";

/** The process that reads files of strangers; there is none before it is needed. */
export function createMedia({ home, publish, logger }: Pick<AppContext, "home" | "publish" | "logger">): Media {
  return new Media({
    folder: home.paths.media,
    models: [speechFolder(home.paths.root)],
    onFailure: (operation, reason) => {
      logger.warn({ operation, reason }, "a file of somebody else's could not be read");
      const told = publish({ type: "media.failed", actor: "host", data: { operation, reason } });
      told.catch((error: unknown) => logger.error({ err: error }, "that a file could not be read is not on record"));
    },
  });
}

/** Current transcriber by the configuration. */
export function createHearingOf(
  context: PaidContext & Pick<AppContext, "media" | "adapters" | "home">,
  groups: GroupBudgets,
): HearSound {
  const { media, live, adapters, home, logger } = context;
  const folder = speechFolder(home.paths.root);
  const calls = createSoundCalls(context);
  return createHearing({
    media,
    place: () => transcriberSource(live.current, adapters, folder),
    pay: (model, seconds, group) =>
      payFor(calls, { group: withBudget(groups, group), model, most: { chars: 0, seconds } }),
    logger,
  });
}
