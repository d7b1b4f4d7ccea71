import type { ModelAnswer } from "../../domain/turns/model.ts";
import type { TurnTools } from "../../tools/conversation-tools.ts";
import type { Conversation, TurnInput, OpenSession } from "../collaborators.ts";
import { collectMessages, type MessageSources } from "../steps/collect-messages.ts";
import type { SourcedStep } from "../steps/sourced-step.ts";
import type { OfferedTools } from "../tool-calls/offered-tools.ts";
import type { TurnScope } from "../turn-scope.ts";
import { type AskModelOptions, askModel } from "./ask-model.ts";
import type { ConversationPrompts } from "./conversation-prompts.ts";

/** Parts of conversations as the store has them. */
export interface StoredConversationOptions extends AskModelOptions {
  readonly prompts: Pick<ConversationPrompts, "changeSince">;
  readonly offered: Pick<OfferedTools, "of">;
  readonly messages: MessageSources;
  readonly jobs: { takeNews(session: string, turn: string): readonly string[] };
}

/** Conversations of sessions, as the store has them. */
export class StoredConversation implements Conversation {
  readonly #options: StoredConversationOptions;

  constructor(options: StoredConversationOptions) {
    this.#options = options;
  }

  ask(scope: TurnScope, signal: AbortSignal): Promise<ModelAnswer> {
    return askModel(this.#options, scope, signal);
  }

  toolsOf(scope: TurnScope): Promise<TurnTools> {
    return this.#options.offered.of(scope);
  }

  changeSince(scope: TurnScope): Promise<SourcedStep | undefined> {
    return this.#options.prompts.changeSince(scope);
  }

  collect(place: Parameters<Conversation["collect"]>[0], openSession: OpenSession): Promise<TurnInput | undefined> {
    return collectMessages(this.#options.messages, place, openSession);
  }

  takeJobNews(session: string, turn: string): readonly string[] {
    return this.#options.jobs.takeNews(session, turn);
  }
}
