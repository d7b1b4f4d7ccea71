import type { Delta, DeltaSource } from "../../../domain/chats/delta.ts";
import type { ToolCall } from "../../../domain/turns/model.ts";
import type { ReplyTarget } from "../../../domain/work/work.ts";
import { RateLimiter } from "../../../lib/time/rate-limiter.ts";
import type { DeltaBus } from "./delta-bus.ts";

/** A text shown while it comes, without its hidden parts. */
interface Pieces {
  add(text: string): string;
  end(): string;
}

export interface TurnDeltasOptions {
  readonly bus: Pick<DeltaBus, "isWatched" | "offer">;
  /** Cleaned answers and tool output of a group. */
  readonly piecesOf: (group: string) => { readonly answer: () => Pieces; readonly output: () => Pieces };
  readonly clock: { monotonic(): number };
}

/** The turn that does something. */
export interface DeltaScope {
  readonly turn: { readonly id: string; readonly replyTo: ReplyTarget };
  readonly group: { readonly name: string; readonly acting?: { readonly name: string } | undefined };
  readonly session: { readonly id: string };
}

/** Told about one answer of a model while it comes. */
export interface AnswerWatch {
  /** Called when a try begins; returns the receiver of its text. */
  readonly onTry: () => (text: string) => void;
  /** Ends the answer. */
  readonly end: () => void;
}

/** A piece of what a tool prints, as an agent claims. */
export interface OutputPiece {
  readonly callId: string;
  readonly text: string;
}

/** An agent sends four in a second; what comes faster is not believed. */
const piecesPerSecond = 8;
const gapMark = "…\n";

interface RunningTool {
  readonly tool: string;
  readonly pieces: Pieces;
  /** Something of what it printed was dropped. */
  hasGap: boolean;
}

/** Watched part of a turn. */
interface Watched {
  readonly place: DeltaSource;
  /** Tools that run, by call. */
  tools: ReadonlyMap<string, RunningTool>;
  /** Something of an answer was shown. */
  hasAnswer: boolean;
}

/**
 * Shows turns to watchers. Starts with the next answer or calls after a watcher came, as what may be shown of a running
 * one is unknown.
 */
export class TurnDeltas {
  readonly #options: TurnDeltasOptions;
  readonly #turns = new Map<string, Watched>();
  readonly #rate = new RateLimiter({ count: piecesPerSecond, periodMs: 1_000, burst: 2 * piecesPerSecond });

  constructor(options: TurnDeltasOptions) {
    this.#options = options;
  }

  /** Watches an answer; undefined without watchers. */
  answer(scope: DeltaScope): AnswerWatch | undefined {
    const watched = this.#watched(scope);
    if (!watched) return undefined;
    const { answer } = this.#options.piecesOf(scope.group.name);
    let pieces = answer();
    const show = (text: string): void => {
      if (text === "" || this.#turns.get(scope.turn.id) !== watched) return;
      watched.hasAnswer = true;
      this.#options.bus.offer({ ...watched.place, type: "answer", text });
    };
    return {
      onTry: () => {
        const own = (pieces = answer());
        this.#reset(watched);
        return (text) => show(own.add(text));
      },
      end: () => show(pieces.end()),
    };
  }

  /** The tools of these calls are about to run. Returns whether what they print is wanted. */
  calls(scope: DeltaScope, calls: readonly ToolCall[], words: () => string): boolean {
    const watched = this.#watched(scope);
    if (!watched) return false;
    this.#endOutputs(watched);
    const { output } = this.#options.piecesOf(scope.group.name);
    watched.tools = new Map(calls.map(({ id, name }) => [id, { tool: name, pieces: output(), hasGap: false }]));
    this.#options.bus.offer({ ...watched.place, type: "doing", text: words() });
    return true;
  }

  /** A tool says how far it is. */
  doing(scope: DeltaScope, words: () => string): void {
    const watched = this.#watched(scope);
    if (watched) this.#options.bus.offer({ ...watched.place, type: "doing", text: words() });
  }

  /** Shows output of a running call; ignores unknown calls and floods. */
  output({ turn }: Pick<DeltaScope, "turn">, { callId, text }: OutputPiece): void {
    const watched = this.#turns.get(turn.id);
    const running = watched?.tools.get(callId);
    if (!watched || !running) return;
    if (this.#rate.take(this.#options.clock.monotonic(), turn.id).waitMs > 0) return void (running.hasGap = true);
    const shown = running.pieces.add(running.hasGap ? gapMark + text : text);
    running.hasGap = false;
    this.#print(watched, callId, shown);
  }

  over({ turn }: Pick<DeltaScope, "turn">): void {
    const watched = this.#turns.get(turn.id);
    if (!watched) return;
    this.#turns.delete(turn.id);
    this.#endOutputs(watched);
    this.#options.bus.offer({ ...watched.place, type: "over" });
  }

  #watched(scope: DeltaScope): Watched | undefined {
    const known = this.#turns.get(scope.turn.id);
    const place = known?.place ?? placeOf(scope);
    if (!this.#options.bus.isWatched(place)) return undefined;
    if (known) return known;
    const begun: Watched = { place, tools: new Map(), hasAnswer: false };
    this.#turns.set(scope.turn.id, begun);
    return begun;
  }

  #reset(watched: Watched): void {
    this.#endOutputs(watched);
    if (!watched.hasAnswer) return;
    watched.hasAnswer = false;
    this.#options.bus.offer({ ...watched.place, type: "reset" });
  }

  #endOutputs(watched: Watched): void {
    for (const [call, { pieces }] of watched.tools) this.#print(watched, call, pieces.end());
    watched.tools = new Map();
  }

  #print(watched: Watched, call: string, text: string): void {
    const running = watched.tools.get(call);
    if (text === "" || !running) return;
    const delta: Delta = { ...watched.place, type: "output", call, tool: running.tool, text };
    this.#options.bus.offer(delta);
  }
}

function placeOf({ turn, group, session }: DeltaScope): DeltaSource {
  const { replyTo } = turn;
  return {
    group: group.name,
    session: session.id,
    turn: turn.id,
    ...(group.acting && { agent: group.acting.name }),
    ...(replyTo.kind === "chat" && { channel: replyTo.channel, chat: replyTo.chat }),
  };
}
