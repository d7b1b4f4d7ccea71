import type { FetchedAttachment, IncomingMessage, StoredAttachment } from "../domain/chats/message.ts";
import { cleanMessage } from "./clean-message.ts";

/** Does something come with the message that may hold words? */
export function hasRecording({ attachments = [] }: IncomingMessage): boolean {
  return attachments.some(({ kind }) => kind === "audio");
}

interface Transcribed {
  readonly message: IncomingMessage;
  readonly attachments: readonly StoredAttachment[];
  /** What is said in its recordings; empty: nothing was heard. */
  readonly spoken: string;
}

/** What is said in recordings stands behind what was written, so that all who read the message read it too. */
export function withTranscripts(
  message: IncomingMessage,
  fetched: readonly FetchedAttachment[],
  textChars: number,
): Transcribed {
  const spoken = fetched.flatMap(({ transcript = "" }) => (transcript === "" ? [] : [transcript])).join("\n");
  const attachments = fetched.map((attachment): StoredAttachment => {
    const { kind, name, file, failure, heard } = attachment;
    return { kind, name, file, failure, ...(heard && { heard }) };
  });
  if (spoken === "") return { message, attachments, spoken };
  const written = message.text === "" ? "" : `${message.text}\n`;
  const said = cleanMessage({ ...message, text: `${written}${spoken}`.slice(0, textChars) });
  return { message: said, attachments, spoken };
}
