import { isSilent } from "../../domain/chats/silence.ts";
import { plainSentence } from "../../lib/text/plain-words.ts";
import type { TurnOutcome } from "../active-turn.ts";
import type { AnswerWriter } from "../collaborators.ts";
import { wordsForMembers } from "./failure-words.ts";
import type { TurnScope } from "../turn-scope.ts";

/** End of a turn, with its record. */
export type RecordedTurnEnd = Omit<Extract<TurnOutcome, { kind: "ended" }>, "kind">;

/** Words in which an end is told where the turn's answer goes. */
interface EndWords {
  readonly kind: "reply" | "notice";
  readonly text: string;
  readonly silent?: true;
}

type Wording = Pick<AnswerWriter, "formatReply" | "formatNotice" | "tellFailure">;

/** Returns the words in which a turn's end is told. Tells the operator of a failure that is not for members. */
export function wordsAtEnd(answers: Wording, end: RecordedTurnEnd, scope: TurnScope): EndWords {
  if (end.state === "cancelled") return { kind: "notice", text: end.text };
  // A task is tried again, and its group is told when that does not help.
  if (end.state === "failed" && scope.turn.cause === "schedule") return { kind: "notice", text: "" };
  if (end.state === "failed")
    return { kind: "notice", text: `I could not finish this: ${failureWords(answers, end, scope)}` };
  if (end.text.trim() === "") return { kind: "notice", text: "The model gave an empty answer." };
  // Another session is told whatever the answer is: it may wait for it.
  const silent = scope.turn.replyTo.kind === "chat" && isSilent(end.text);
  if (silent) return { kind: "reply", text: "", silent };
  return { kind: "reply", text: answers.formatReply(end.text, scope) };
}

/** A main group gets the detail, others what concerns them; then the operator is told. */
function failureWords(answers: Wording, { text, failure }: RecordedTurnEnd, scope: TurnScope): string {
  const { group, turn } = scope;
  const detail = plainSentence(answers.formatNotice(text, scope));
  const words = group.main ? undefined : wordsForMembers(failure);
  if (!words) return detail;
  if (!words.forOperator || failure === undefined) return `${words.said}.`;
  const isTold = answers.tellFailure({ group, turn: turn.id, failure, detail });
  return `${words.said}. ${isTold ? "The operator has been told." : "Please tell the operator."}`;
}
