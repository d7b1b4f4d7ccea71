import { speechSource } from "../../../config/configured/media.ts";
import { MediaError } from "../../../abilities/media/operations.ts";
import { Speaking } from "../../../abilities/media/speech/speaking.ts";
import { ToolError } from "../../../protocol/tools.ts";
import type { EventStore } from "../../../stores/contract/event-store.ts";
import type { SpeechPort } from "../../../tools/chat/speech-port.ts";
import { turnIdsOf, type TurnScope } from "../../../turns/turn-scope.ts";
import type { AppContext } from "../../context.ts";
import { createContainerSpeech } from "./container-speech.ts";
import { createSoundCalls, payFor, withBudget } from "./sound-calls.ts";

/** Events that are looked at in one go. */
const pageEvents = 1_000;

/** Slowest speech in any language, for reservations. */
const charsPerSecond = 3;

/** Speaks agents' words. Created on first use. */
export function createSpeech(
  context: AppContext,
  options: Parameters<typeof createContainerSpeech>[0],
): (scope: TurnScope, signal: AbortSignal) => SpeechPort | undefined {
  const { live, adapters, media, store, publish, clock, logger } = context;
  let made: Speaking | undefined;
  const make = (): Speaking => {
    const calls = createSoundCalls(context);
    return new Speaking({
      media,
      place: () => speechSource(live.current, adapters),
      charsSince: (group, since) => countChars(store.events, group, since),
      speakInContainer: createContainerSpeech(options),
      publish,
      pay: (model, chars, { group, turn }) =>
        payFor(calls, {
          group: withBudget(options.groups, group),
          turn,
          model,
          most: { chars, seconds: chars / charsPerSecond },
        }),
      now: () => clock.now(),
      logger,
    });
  };
  const speaking = (): Speaking => (made ??= make());
  return (scope, signal) => {
    if (!live.groupOf(scope.group).speaks) return undefined;
    return { say: (text) => inWordsForModel(speaking().say(text, turnIdsOf(scope), signal)) };
  };
}

async function inWordsForModel<Result>(saying: Promise<Result>): Promise<Result> {
  try {
    return await saying;
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    throw new ToolError(`The voice message was not sent: ${error.message}.`, { cause: error });
  }
}

/** Characters spoken in a group since then, newest first. */
async function countChars(events: Pick<EventStore, "before">, group: string, since: number): Promise<number> {
  let count = 0;
  let before = Number.MAX_SAFE_INTEGER;
  for (;;) {
    const page = await events.before(before, { types: ["voice.asked"], group }, pageEvents);
    for (const event of page.events) if (event.at >= since && event.type === "voice.asked") count += event.data.chars;
    const oldest = page.events[0];
    if (page.next === undefined || (oldest && oldest.at < since)) return count;
    before = page.next;
  }
}
