import type { FetchedAttachment, IncomingMessage, StoredAttachment } from "../domain/chats/message.ts";
import { cleanMessage } from "./clean-message.ts";

/** True when an attachment may contain speech. */
export function hasRecording({ attachments = [] }: IncomingMessage): boolean {
  return attachments.some(({ kind }) => kind === "audio");
}

interface Transcribed {
  readonly message: IncomingMessage;
  readonly attachments: readonly StoredAttachment[];
  /** Transcript of the recordings; empty when there is none. */
  readonly spoken: string;
}

/** Appends transcripts to the text, for all readers of the message. */
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
