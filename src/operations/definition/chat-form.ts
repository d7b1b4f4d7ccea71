import type * as z from "zod";

import type { Group } from "../../domain/chats/group.ts";
import type { Role } from "../../domain/people/role.ts";

/** An agent of the group. */
interface NamedAgent {
  readonly id: string;
  readonly name: string;
}

/** Context for writing an answer in a chat. */
export interface ChatView {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** By the clock of the group, with its zone. */
  readonly showTime: (time: number) => string;
  /** Group of the chat. */
  readonly group: Pick<Group, "name" | "main" | "agents">;
  /** Agents called so, or all of the group; a string says that there is none. */
  readonly agentsCalled: (said: string) => readonly NamedAgent[] | string;
  /** The asker: `key` is `channel:id`, `name` what they call themselves. */
  readonly asker: { readonly key: string; readonly name: string; readonly role: Role };
  /** Names of the commands that the asker may use here. */
  readonly commands: readonly string[];
}

/** Words of a command, by the names of the parameters in its form, in lower case letters. */
type TypedWords = Readonly<Record<string, string>>;

/** An operation in the chat of a group. A parameter `group` is the group of the chat, unless the form names one. */
export interface ChatForm<Input extends z.ZodType, Output extends z.ZodType> {
  /**
   * Command and words; parameters are written in capitals: `/tasks pause ID`, in brackets where they may be left out,
   * and with `…` where they take all that is left: `/set GROUP KEY VALUE…`.
   */
  readonly form: `/${string}`;
  /** Parameters; absent: the words. */
  input?(words: TypedWords, view: ChatView): Partial<z.input<Input>>;
  /** The answer in the chat. */
  say?(answer: z.output<Output>, view: ChatView, given: z.input<Input>): string;
  /** The answer where the operation has to be asked several times. */
  compose?(
    ask: (given: z.input<Input>) => Promise<z.output<Output>>,
    view: ChatView,
    words: TypedWords,
  ): Promise<string>;
  /** A refusal also says what to do, which is for those who can use the command line. */
  readonly tellsFix?: true;
}

/** The form of any operation. */
export interface AnyChatForm {
  readonly form: `/${string}`;
  input?(words: TypedWords, view: ChatView): object;
  say?(answer: never, view: ChatView, given: never): string;
  compose?(ask: never, view: ChatView, words: TypedWords): Promise<string>;
  readonly tellsFix?: true;
}
