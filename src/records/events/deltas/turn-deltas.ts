import type { Delta, DeltaPlace } from "../../../domain/chats/delta.ts";
import type { ToolCall } from "../../../domain/turns/model.ts";
import type { ReplyTarget } from "../../../domain/work/work.ts";
import { RateLimiter } from "../../../lib/time/rate-limiter.ts";
import type { DeltaBus } from "./delta-bus.ts";

/** A text that is shown while it comes, without what nobody is to see of it. */
interface Pieces {
  add(text: string): string;
  end(): string;
}

export interface TurnDeltasOptions {
  readonly bus: Pick<DeltaBus, "isWatched" | "offer">;
  /** What a group's agent says, and what its tools print, as it may be shown. */
  readonly piecesOf: (group: string) => { readonly answer: () => Pieces; readonly output: () => Pieces };
  readonly clock: { monotonic(): number };
}

/** The turn that does something. */
export interface DeltaScope {
  readonly turn: { readonly id: string; readonly replyTo: ReplyTarget };
  readonly group: { readonly name: string; readonly acting?: { readonly name: string } | undefined };
  readonly session: { readonly id: string };
}

/** Told of one answer of a model while it comes. */
export interface AnswerWatch {
  /** A try begins; what it returns is told of its text. */
  readonly onTry: () => (text: string) => void;
  /** It is whole. */
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

/** What of a turn is watched. */
interface Watched {
  readonly place: DeltaPlace;
  /** Tools that run, by call. */
  tools: ReadonlyMap<string, RunningTool>;
  /** Something of an answer was shown. */
  hasAnswer: boolean;
}

/**
 * Tells whoever watches what turns do. It begins with the next answer, or the next calls, after somebody has come: of
 * what is in the middle nobody can say any more what of it may be shown.
 */
export class TurnDeltas {
  readonly #options: TurnDeltasOptions;
  readonly #turns = new Map<string, Watched>();
  readonly #rate = new RateLimiter({ count: piecesPerSecond, periodMs: 1_000, burst: 2 * piecesPerSecond });

  constructor(options: TurnDeltasOptions) {
    this.#options = options;
  }

  /** Undefined: nobody watches. */
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

  /** Of a call that does not run, or faster than an agent sends them: nothing. */
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

function placeOf({ turn, group, session }: DeltaScope): DeltaPlace {
  const { replyTo } = turn;
  return {
    group: group.name,
    session: session.id,
    turn: turn.id,
    ...(group.acting && { agent: group.acting.name }),
    ...(replyTo.kind === "chat" && { channel: replyTo.channel, chat: replyTo.chat }),
  };
}
