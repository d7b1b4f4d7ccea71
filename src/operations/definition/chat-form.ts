import type * as z from "zod";

/** Context for writing an answer in a chat. */
export interface ChatView {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** By the clock of the group, with its zone. */
  readonly showTime: (time: number) => string;
}

/** An operation in the chat of a group. A parameter `group` is the group of the chat. */
export interface ChatForm<Input extends z.ZodType, Output extends z.ZodType> {
  /** Command and words; parameters are written in capitals: `/tasks pause ID`. */
  readonly form: `/${string}`;
  /** The answer in the chat. */
  say(answer: z.output<Output>, view: ChatView, given: z.input<Input>): string;
}

/** The form of any operation. */
export interface AnyChatForm {
  readonly form: `/${string}`;
  say(answer: never, view: ChatView, given: never): string;
}
