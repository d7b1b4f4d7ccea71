import type { ReplyFormats } from "../../delivery/reply-redaction.ts";
import type { Progress } from "../../delivery/progress.ts";
import type { AnswerWatch, TurnDeltas } from "../../records/events/deltas/turn-deltas.ts";
import type { TurnScope } from "../../turns/turn-options.ts";

/** Of an answer that a chat is shown while it is written; the end of one that is longer. */
const mostChars = 64 * 1024;

/**
 * Who is told of an answer while it comes: those who watch deltas, and a chat that wants to see it grow. Undefined:
 * nobody.
 */
export function watchAnswer(
  scope: TurnScope,
  {
    deltas,
    progress,
    beginningOf,
  }: { readonly deltas: TurnDeltas; readonly progress: Progress; readonly beginningOf: ReplyFormats["beginningOf"] },
): AnswerWatch | undefined {
  const watching = deltas.answer(scope);
  const { turn, group } = scope;
  if (!progress.showsAnswer(turn.id)) return watching;
  return {
    onTry: () => {
      const tell = watching?.onTry();
      let answer = "";
      progress.answering(turn.id, () => (answer.length > mostChars ? "" : beginningOf(answer, group.name)));
      return (text) => {
        tell?.(text);
        if (answer.length <= mostChars) answer += text;
      };
    },
    end: () => watching?.end(),
  };
}
