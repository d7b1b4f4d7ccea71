import type { Group } from "../../domain/chats/group.ts";
import type { GroupRegistry } from "../../intake/chats/group-registry.ts";
import { forkOf } from "../../abilities/sub-agents/spawning.ts";
import { Compactions } from "../../turns/compaction/compactions.ts";
import { Compactor } from "../../turns/compaction/compactor.ts";
import { createFit } from "../../turns/compaction/fit-conversation.ts";
import { ShownConversations, type ShownConversationsOptions } from "../../turns/compaction/shown-conversation.ts";
import { type AskModelOptions, createAskModel } from "../../turns/conversation/ask-model.ts";
import { CacheWatch } from "../../turns/conversation/cache-watch.ts";
import { Clearing } from "../../turns/conversation/clearing.ts";
import { ShownPictures, type ShownPicturesOptions } from "../../turns/conversation/shown-pictures.ts";
import type { SessionLeases } from "../../turns/session-leases.ts";
import type { TurnOptions } from "../../turns/turn-options.ts";
import type { AppContext } from "../context.ts";

export interface CompactionWiring
  extends Pick<ShownConversationsOptions, "prompts" | "toolsOf">, Pick<AskModelOptions, "watchAnswer"> {
  readonly captions: ShownPicturesOptions["captions"];
  readonly leases: SessionLeases;
  readonly holdModels: TurnOptions["holdModels"];
  readonly groupFor: TurnOptions["groupFor"];
  readonly groups: Pick<GroupRegistry, "list">;
  readonly deliver: () => void;
  /** Facts are drawn from what was said, where groups remember things. */
  readonly extract: (group: Group, signal: AbortSignal) => Promise<void>;
}

/** How models are shown conversations that outgrow them, and what makes those shorter. */
export function createConversations(
  context: AppContext,
  { prompts, toolsOf, leases, holdModels, groupFor, groups, deliver, extract, captions, watchAnswer }: CompactionWiring,
): { readonly askModel: TurnOptions["askModel"]; readonly compactions: Compactions } {
  const { store, publish, clock, logger } = context;
  const { sessions } = store;
  const clearing = new Clearing({ sessions, cacheWatch: new CacheWatch(publish), now: () => clock.now() });
  const pictures = new ShownPictures({ sessions, captions });
  const before: ShownConversationsOptions["before"] = (session) => forkOf(store, session);
  const shown = new ShownConversations({ store, toolsOf, prompts, before, clearing, pictures });
  const compactor = new Compactor({ store, shown, publish, clock });
  const compactions = new Compactions({
    store,
    leases,
    shown,
    compactor,
    groupOf: (name) => groups.list().find((group) => group.name === name),
    groupFor,
    holdModels,
    before: extract,
    deliver,
    clock,
    logger,
  });
  const fit = createFit({ shown, compactor, clearing, logger });
  const askModel = createAskModel({
    fit,
    answered: (...answer) => compactions.answered(...answer),
    clearing,
    watchAnswer,
  });
  return { askModel, compactions };
}
