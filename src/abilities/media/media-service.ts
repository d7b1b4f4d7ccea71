import type { Logger } from "pino";

import type { Group } from "../../domain/chats/group.ts";
import type { HearSound } from "../../domain/chats/message.ts";
import type { Publish } from "../../domain/events/event.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { ConfiguredModels } from "../../models/configured-models.ts";
import type { seesImages } from "../../models/knowledge/capabilities.ts";
import { SoundCalls, type SoundCallsOptions } from "../../models/sound-calls.ts";
import { ToolError } from "../../protocol/tools.ts";
import type { Servers } from "../../sandbox/servers/servers.ts";
import type { BlobFolder } from "../../stores/blobs/blob-folder.ts";
import { createBlobRoom } from "../../stores/blobs/blob-room.ts";
import type { Store } from "../../stores/contract/store.ts";
import { sumEvents } from "../../stores/sum-events.ts";
import type { AbilityService } from "../define-ability.ts";
import type { MediaSettings } from "./config.ts";
import { Media } from "./media.ts";
import { MediaError } from "./media-error.ts";
import { PictureCaptions } from "./picture-captions.ts";
import { Pictures } from "./pictures.ts";
import { type MediaServerOf, speechSource, transcriberSource } from "./sources.ts";
import { createContainerSpeech } from "./speech/container-speech.ts";
import { createHearing } from "./speech/hearing.ts";
import type { SpeechPort } from "./speech/send-voice.ts";
import { reserveSound } from "./speech/sound-payment.ts";
import { Speaking, type SpeakingTurn } from "./speech/speaking.ts";
import { speechFolder } from "./speech/speech-model.ts";

/** Slowest speech in any language, for reservations. */
const charsPerSecond = 3;

export interface MediaNeeds {
  /** Folders of the home. */
  readonly paths: { readonly root: string; readonly groups: string; readonly blobs: string; readonly media: string };
  readonly blobs: BlobFolder;
  readonly reserveBytes: () => number;
  readonly store: Pick<Store, "blobs" | "events" | "usage">;
  /** Budgets as the intake uses them: trouble of the store is told at once. */
  readonly intakeUsage: SoundCallsOptions["usage"];
  readonly modelSettings: () => ReturnType<SoundCallsOptions["settings"]>["models"] & Parameters<typeof seesImages>[0];
  readonly budgets: () => ReturnType<SoundCallsOptions["settings"]>["budgets"];
  readonly models: Pick<ConfiguredModels, "complete">;
  readonly serverOfProvider: MediaServerOf;
  readonly servers: Pick<Servers, "open">;
  readonly groups: { byName(name: string): Group | undefined };
  readonly publish: Publish;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Logger;
}

/** Sees pictures, hears voice messages, and speaks. */
export class MediaService implements AbilityService {
  readonly hear: HearSound;
  readonly pictures: Pictures;
  readonly #media: Media;
  readonly #speaking: Speaking;

  constructor(needs: MediaNeeds, settings: () => MediaSettings) {
    const { paths, modelSettings, budgets, store, clock, publish, logger } = needs;
    this.#media = openMedia(needs);
    this.pictures = createPictures(needs, this.#media, settings);
    const soundSettings = (): ReturnType<SoundCallsOptions["settings"]> => ({
      models: modelSettings(),
      budgets: budgets(),
    });
    const now = (): number => clock.now();
    const calls = { settings: soundSettings, now, publish, logger };
    const heard = new SoundCalls({ ...calls, usage: needs.intakeUsage });
    const spoken = new SoundCalls({ ...calls, usage: store.usage });
    this.hear = createHearing({
      media: this.#media,
      place: () => transcriberSource(settings(), needs.serverOfProvider, speechFolder(paths.root)),
      pay: (model, seconds, group) => reserveSound(heard, needs.groups, { group, model, most: { chars: 0, seconds } }),
      logger,
    });
    this.#speaking = new Speaking({
      media: this.#media,
      place: () => speechSource(settings(), needs.serverOfProvider),
      charsSince: (group, since) =>
        sumEvents(store.events, { type: "voice.asked", group, since }, ({ data }) => data.chars),
      speakInContainer: createContainerSpeech(needs),
      pay: (model, chars, { group, turn }) =>
        reserveSound(spoken, needs.groups, { group, turn, model, most: { chars, seconds: chars / charsPerSecond } }),
      publish,
      now,
      logger,
    });
  }

  /** Speaks for this turn. */
  portFor(turn: SpeakingTurn, signal: AbortSignal): NonNullable<SpeechPort> {
    return {
      say: async (text) => {
        try {
          return await this.#speaking.say(text, turn, signal);
        } catch (error) {
          if (!(error instanceof MediaError)) throw error;
          throw new ToolError(`The voice message was not sent: ${error.message}.`, { cause: error });
        }
      },
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#media[Symbol.asyncDispose]();
  }
}

/** The process that reads files of strangers; there is none before it is needed. */
function openMedia({ paths, publish, logger }: MediaNeeds): Media {
  return new Media({
    folder: paths.media,
    models: [speechFolder(paths.root)],
    onFailure: (operation, reason) => {
      logger.warn({ operation, reason }, "a file of somebody else's could not be read");
      const told = publish({ type: "media.failed", actor: "host", data: { operation, reason } });
      told.catch((error: unknown) => logger.error({ err: error }, "that a file could not be read is not on record"));
    },
  });
}

function createPictures(needs: MediaNeeds, media: Media, settings: () => MediaSettings): Pictures {
  const { paths, blobs, reserveBytes, store, modelSettings, models, clock, publish, logger } = needs;
  const route = (): string | undefined => settings().vision;
  return new Pictures({
    groupsFolder: paths.groups,
    blobs,
    media,
    hasRoom: createBlobRoom(paths.blobs, reserveBytes, store.blobs),
    captions: new PictureCaptions({ blobs: store.blobs, models, route, clock, publish, logger }),
    captionRows: store.blobs,
    modelSettings,
    areDescribed: () => route() !== undefined,
    publish,
    logger,
  });
}
