import { writeFile } from "node:fs/promises";

import type { Logger } from "pino";

import type { SpeechSource, VoiceMessage } from "../../../domain/settings/speech.ts";
import type { Publish } from "../../../domain/events/event.ts";
import type { Media } from "../media.ts";
import type { PaidSound } from "../../../models/sound-calls.ts";
import { MediaError } from "../media-error.ts";
import { paidBy } from "./sound-payment.ts";
import { isOggOpus } from "./ogg-opus.ts";
import { speakByProvider } from "./provider-speech.ts";
import { measureWithWorker } from "./sound-length.ts";

/** Texts of one group, and of all groups, that are said at the same time. */
const atOnce = 2;
const atOnceInAll = 8;

/** The speaking turn. */
export interface SpeakingTurn {
  readonly group: string;
  readonly session: string;
  readonly turn: string;
}

/** Words that a group's agent wants spoken. */
export interface SpokenWords {
  readonly group: string;
  readonly text: string;
}

/**
 * Has a program in a container of the group's image say this, as espeak-ng does in that voice. Rejects like
 * `Speaking.say`.
 */
export type SpeakInContainer = (
  words: SpokenWords & { readonly voice: string },
  signal: AbortSignal,
) => Promise<Uint8Array>;

export interface SpeakingOptions {
  /** Measures the length of a sound. */
  readonly media: Pick<Media, "open">;
  /** Current source of speech. */
  readonly place: () => SpeechSource;
  /** Characters that the agents of a group have said since then, newest events first, over all lives of the host. */
  readonly charsSince: (group: string, since: number) => Promise<number>;
  readonly speakInContainer: SpeakInContainer;
  /**
   * Reserves money for a provider (`provider/model`) and a number of characters. Rejects with a MediaError when the
   * budget is exhausted.
   */
  readonly pay: (model: string, chars: number, whose: SpeakingTurn) => Promise<PaidSound>;
  readonly publish: Publish<"voice.asked" | "voice.made" | "voice.refused">;
  readonly now: () => number;
  /** Time limit of a provider. */
  readonly timeoutMs?: number | undefined;
  readonly logger: Pick<Logger, "warn">;
}

/** Says the words of agents aloud: within limits, and on record before anybody is asked. */
export class Speaking {
  readonly #options: SpeakingOptions;
  /** Characters of running calls, by group. */
  readonly #open = new Map<string, readonly number[]>();

  constructor(options: SpeakingOptions) {
    this.#options = options;
  }

  /** Rejects with a MediaError, whose words are the end of a sentence for the model, or with the signal's reason. */
  async say(text: string, whose: SpeakingTurn, signal: AbortSignal): Promise<VoiceMessage> {
    const { publish, now, pay } = this.#options;
    const place = this.#options.place();
    if (place === "none") throw new MediaError("refused", "media.speech is none");
    const by = "program" in place ? place.program : `${place.provider}/${place.model}`;
    const tell = { ...whose, actor: "agent" } as const;
    const since = now();
    try {
      using taken = this.#take(whose.group, text.length);
      await this.#requireRoom(whose.group, { chars: taken.chars, most: place.charactersPerDay });
      const payment = "provider" in place ? await pay(by, text.length, whose) : undefined;
      const make = async (): Promise<VoiceMessage> => {
        await publish({ type: "voice.asked", ...tell, data: { by, chars: text.length } });
        const content = await this.#speak(place, { text, group: whose.group }, signal);
        if (!isOggOpus(content))
          throw new MediaError("failed", `${by} answered with something that is no sound in Ogg Opus`);
        return { content, ...(await this.#measure(content, signal)) };
      };
      const made = await paidBy(payment, make, ({ seconds }) => seconds);
      const [bytes, ms] = [made.content.length, now() - since];
      await publish({
        type: "voice.made",
        ...tell,
        data: { by, chars: text.length, bytes, seconds: made.seconds, ms },
      });
      return made;
    } catch (error) {
      const reason = signal.aborted ? "cancelled" : error instanceof MediaError ? error.message : "a fault of the host";
      this.#options.logger.warn({ err: error, group: whose.group, turn: whose.turn }, "a voice message was not made");
      await publish({ type: "voice.refused", ...tell, data: { by, reason, ms: now() - since } });
      throw error;
    }
  }

  #speak(place: Exclude<SpeechSource, string>, words: SpokenWords, signal: AbortSignal): Promise<Uint8Array> {
    const { timeoutMs, speakInContainer } = this.#options;
    if ("provider" in place) return speakByProvider(place, words.text, { signal, timeoutMs });
    return speakInContainer({ ...words, voice: place.voice }, signal);
  }

  /**
   * Throws where too many are being made; disposing what it gives ends the call. `chars`: of the group's calls under
   * way, with this one.
   */
  #take(group: string, chars: number): Disposable & { readonly chars: number } {
    const open = this.#open.get(group) ?? [];
    const all = [...this.#open.values()].reduce((sum, calls) => sum + calls.length, 0);
    if (open.length >= atOnce || all >= atOnceInAll)
      throw new MediaError("refused", "others are being made at the moment; try again in a moment");
    this.#open.set(group, [...open, chars]);
    return {
      chars: open.reduce((sum, each) => sum + each, chars),
      [Symbol.dispose]: () => {
        const now = this.#open.get(group) ?? [];
        const left = now.toSpliced(now.indexOf(chars), 1);
        if (left.length === 0) this.#open.delete(group);
        else this.#open.set(group, left);
      },
    };
  }

  /** Counts the request whatever its outcome: the provider may charge for it. */
  async #requireRoom(group: string, { chars, most }: { readonly chars: number; readonly most: number }): Promise<void> {
    const { charsSince, now } = this.#options;
    const today = new Date(now()).toISOString().slice(0, 10);
    const used = await charsSince(group, Date.parse(today));
    if (used + chars <= most) return;
    const left = Math.max(0, most - used);
    throw new MediaError(
      "refused",
      `this group may say ${most} characters a day (UTC) aloud and has ${left} left; write it instead`,
    );
  }

  /** By the process that reads files of strangers, as what a provider makes is one. */
  async #measure(content: Uint8Array, signal: AbortSignal): Promise<Pick<VoiceMessage, "seconds" | "waveform">> {
    await using work = await this.#options.media.open();
    await writeFile(work.input, content, { mode: 0o600, flag: "wx" });
    return await measureWithWorker(work, { waveform: true }, signal);
  }
}
