import type { Group } from "../domain/chats/group.ts";
import type { StoredMessage } from "../domain/chats/message.ts";
import type { ToolCall } from "../domain/turns/model.ts";
import type { Session } from "../domain/turns/session.ts";
import type { Turn } from "../domain/turns/turn.ts";
import type { Progress } from "../delivery/progress.ts";
import type { ReplyFormats } from "../delivery/reply-redaction.ts";
import type { TurnPace } from "../intake/limits/turn-pace.ts";
import { plainSentence } from "../lib/text/plain-words.ts";
import type { AnswerWatch, TurnDeltas } from "../records/events/deltas/turn-deltas.ts";
import { describeActivity } from "../tools/activity.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import type { TurnWatchers } from "./collaborators.ts";
import type { TurnScope } from "./turn-scope.ts";

/** Maximum characters of a growing answer that a chat is shown; a longer one has its place at the end. */
const mostChars = 64 * 1024;

/** Receivers of a turn's signs of life. */
export interface LiveWatchersOptions {
  readonly mounts: { turnBegins(session: string, turn: string): void };
  readonly pace: Pick<TurnPace, "began" | "ended">;
  readonly progress: Pick<Progress, "began" | "doing" | "answering" | "ended" | "showsAnswer">;
  readonly deltas: TurnDeltas;
  readonly tools: { readonly registry: ToolRegistry; warm(group: Group): void };
  readonly formats: Pick<ReplyFormats, "formatReply" | "beginningOf">;
  readonly subAgents: { awaitedBy(turn: string): readonly unknown[] };
  readonly sessions: { turnEndedIn(session: Session, turn: Pick<Turn, "id" | "cause">): void };
}

/** Shows chats and subscribers how turns go, and tells those who wait for turns that they have ended. */
export class LiveWatchers implements TurnWatchers {
  readonly #options: LiveWatchersOptions;

  constructor(options: LiveWatchersOptions) {
    this.#options = options;
  }

  began({ group, session, turn }: TurnScope, messages: readonly StoredMessage[]): void {
    const { mounts, pace, tools, progress } = this.#options;
    mounts.turnBegins(session.id, turn.id);
    pace.began(turn, messages);
    tools.warm(group);
    // Nobody waits in the chat for what was begun in another way.
    if (turn.cause === "message") progress.began(group, turn);
  }

  doing(scope: TurnScope, calls: readonly ToolCall[]): boolean {
    const { tools, formats, progress, deltas } = this.#options;
    const redact = (text: string): string => formats.formatReply(text, scope);
    const words = (): string => describeActivity(calls, { registry: tools.registry, redact });
    progress.doing(scope.turn.id, words);
    return calls.length > 0 && deltas.calls(scope, calls, words);
  }

  printing(scope: TurnScope, piece: { readonly callId: string; readonly text: string }): void {
    this.#options.deltas.output(scope, piece);
  }

  saying(scope: TurnScope, text: string): void {
    const { formats, progress, deltas } = this.#options;
    const words = (): string => plainSentence(formats.formatReply(text, scope));
    progress.doing(scope.turn.id, words);
    deltas.doing(scope, words);
  }

  parked(scope: TurnScope): void {
    const { deltas, progress, subAgents } = this.#options;
    const { turn } = scope;
    deltas.over(scope);
    const count = subAgents.awaitedBy(turn.id).length;
    // Where people are asked, the line ends: it is their turn.
    if (count === 0) progress.ended(turn.id);
    else progress.doing(turn.id, () => (count === 1 ? "a sub-agent is at work" : `${count} sub-agents are at work`));
  }

  ended(scope: TurnScope): void {
    const { deltas, pace, progress, sessions } = this.#options;
    const { turn, session } = scope;
    deltas.over(scope);
    pace.ended(turn);
    progress.ended(turn.id);
    sessions.turnEndedIn(session, turn);
  }

  /** Returns who watches an answer while it comes: subscribers, and a chat that sees it grow; undefined: nobody. */
  watchAnswer(scope: TurnScope): AnswerWatch | undefined {
    const { deltas, progress, formats } = this.#options;
    const watching = deltas.answer(scope);
    const { turn, group } = scope;
    if (!progress.showsAnswer(turn.id)) return watching;
    return {
      onTry: () => {
        const tell = watching?.onTry();
        let answer = "";
        const shown = (): string => (answer.length > mostChars ? "" : formats.beginningOf(answer, group.name));
        progress.answering(turn.id, shown);
        return (text) => {
          tell?.(text);
          if (answer.length <= mostChars) answer += text;
        };
      },
      end: () => watching?.end(),
    };
  }
}
