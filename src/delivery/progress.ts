import type { Channel } from "../channels/channel.ts";
import type { Group } from "../domain/chats/group.ts";
import type { IncomingMessage, OutgoingDraft } from "../domain/chats/message.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { ProgressSettings } from "../domain/settings/resolved-group.ts";
import { plainSentence } from "../lib/text/plain-words.ts";
import { type Sleep, sleep } from "../lib/time/sleep.ts";

export interface ProgressOptions {
  readonly settingsOf: (group: Group) => ProgressSettings;
  /** The group's channel, with what it can do. */
  readonly channelOf: (
    group: Group,
  ) => { readonly channel: Pick<Channel, "react" | "showProgress">; readonly edits: boolean } | undefined;
  /** Sends a notice, where a line cannot be replaced. */
  readonly notify: (draft: OutgoingDraft) => Promise<void>;
  readonly clock: Pick<Clock, "now">;
  readonly wait?: Sleep;
}

const received = "👀";
/** Milliseconds between lines in the first minute and later, and between separate messages. */
const everyMs = { first: 10_000, later: 60_000, answer: 2_000 };
/** Shown length of a growing answer's end. */
const answerChars = 2_000;

/** A turn at work. */
interface Watched {
  readonly group: Group;
  readonly startedAt: number;
  readonly over: AbortController;
  /** In words for members; worked out only when it is shown. */
  doing: () => string;
  /** Returns the answer so far, if shown; computed on demand. */
  readonly showsAnswer: boolean;
  answer: (() => string) | undefined;
  /** Text and start of the line, relative to the turn's start; an unchanged line is not sent again. */
  text: string;
  shownAt: number | undefined;
  /** The current or last line; undefined when none was shown. */
  shown: Promise<void> | undefined;
}

/**
 * Shows people that their message was seen and, in a long turn, the activity and its start. Best effort: failures are
 * ignored and nobody waits. No timer runs without a turn.
 */
export class Progress implements Disposable {
  readonly #options: ProgressOptions;
  readonly #wait: Sleep;
  readonly #turns = new Map<string, Watched>();

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#wait = options.wait ?? sleep;
  }

  /** A message for the agent was stored. */
  received(group: Group, { id, sender }: Pick<IncomingMessage, "id" | "sender">): void {
    if (!this.#options.settingsOf(group).reactions) return;
    const reacting = this.#options
      .channelOf(group)
      ?.channel.react?.(group.chat, { message: id, sender: sender.id, emoji: received });
    reacting?.catch(() => undefined);
  }

  /** Starts or resumes showing a turn that answers in the group's chat. */
  began(group: Group, turn: { readonly id: string; readonly startedAt: number }): void {
    const { afterSeconds, answers, isAsked } = this.#options.settingsOf(group);
    const found = this.#options.channelOf(group);
    if (afterSeconds === 0 || !found || this.#turns.has(turn.id) || (!found.edits && !isAsked)) return;
    const { startedAt } = turn;
    const begun: Watched = {
      group,
      startedAt,
      over: new AbortController(),
      doing: () => "getting ready",
      showsAnswer: answers && found.edits,
      answer: undefined,
      text: "",
      shownAt: undefined,
      shown: undefined,
    };
    this.#turns.set(turn.id, begun);
    void this.#follow(turn.id, begun, { afterMs: afterSeconds * 1000, edits: found.edits });
  }

  /** Sets the turn's activity. */
  doing(turn: string, words: () => string): void {
    const watched = this.#turns.get(turn);
    if (!watched) return;
    let found: string | undefined;
    watched.answer = undefined;
    watched.doing = () => (found ??= words());
  }

  /** Whether the turn's answer is wanted while it is written. */
  showsAnswer(turn: string): boolean {
    return this.#turns.get(turn)?.showsAnswer === true;
  }

  /** The turn writes an answer, of which this much may be seen. */
  answering(turn: string, said: () => string): void {
    const watched = this.#turns.get(turn);
    if (watched) watched.answer = said;
  }

  ended(turn: string): void {
    const watched = this.#turns.get(turn);
    if (!watched) return;
    this.#turns.delete(turn);
    watched.over.abort();
    if (watched.shown) void watched.shown.then(() => this.#showLine(turn, watched, { over: true }));
  }

  [Symbol.dispose](): void {
    for (const { over } of this.#turns.values()) over.abort();
    this.#turns.clear();
  }

  async #follow(
    turn: string,
    watched: Watched,
    { afterMs, edits }: { readonly afterMs: number; readonly edits: boolean },
  ): Promise<void> {
    const { signal } = watched.over;
    await this.#wait(afterMs, signal);
    while (!signal.aborted) {
      if (this.#isDue(watched)) {
        watched.shownAt = this.#elapsedMs(watched);
        watched.shown = edits ? this.#showLine(turn, watched, { over: false }) : this.#notify(watched);
        await watched.shown;
      }
      await this.#wait(watched.showsAnswer ? everyMs.answer : this.#pauseMs(watched, edits), signal);
    }
  }

  /** Nothing but an answer is worth a line every other second. */
  #isDue(watched: Watched): boolean {
    const { showsAnswer, shownAt, answer } = watched;
    if (!showsAnswer || shownAt === undefined || answer?.()) return true;
    return this.#elapsedMs(watched) - shownAt >= this.#pauseMs(watched, true);
  }

  #pauseMs(watched: Watched, edits: boolean): number {
    return edits && this.#elapsedMs(watched) < everyMs.later ? everyMs.first : everyMs.later;
  }

  async #showLine(turn: string, watched: Watched, { over }: { readonly over: boolean }): Promise<void> {
    const { group } = watched;
    const found = this.#options.channelOf(group);
    const text = over ? `Worked for ${formatElapsed(this.#elapsedMs(watched))}.` : this.#wordsFor(watched);
    if (text === watched.text) return;
    watched.text = text;
    await found?.channel.showProgress?.(group.chat, { id: turn, text, over }).catch(() => undefined);
  }

  async #notify(watched: Watched): Promise<void> {
    const { name, channel, chat } = watched.group;
    const place = { group: name, channel, chat, inReplyTo: [], turn: undefined };
    await this.#options.notify({ ...place, kind: "notice", text: this.#wordsFor(watched) }).catch(() => undefined);
  }

  #wordsFor(watched: Watched): string {
    const said = watched.answer?.() ?? "";
    if (said !== "") return `${said.length > answerChars ? "…" : ""}${said.slice(-answerChars).toWellFormed()} …`;
    return `Working for ${formatElapsed(this.#elapsedMs(watched))}: ${plainSentence(watched.doing())}`;
  }

  /** The clock may have been set back. */
  #elapsedMs({ startedAt }: Watched): number {
    return Math.max(0, this.#options.clock.now() - startedAt);
  }
}

function formatElapsed(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return seconds % 60 === 0 || minutes >= 10 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
}
