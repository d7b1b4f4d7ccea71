import type { Group } from "../../domain/chats/group.ts";
import type { Session } from "../../domain/turns/session.ts";
import { lineageOfTurn } from "../../rights/people/lineage-of-turn.ts";
import type { RoleOf } from "../../rights/people/roles.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { ConversationTools, TurnTools } from "../../tools/conversation-tools.ts";
import { rightsOf } from "../../tools/sessions/session-rights.ts";
import type { ConversationScope } from "../turn-scope.ts";

/** Sources of what a turn may call. */
export interface OfferedToolsOptions {
  readonly tools: Pick<ConversationTools, "of" | "ifBegun">;
  readonly spawning: { maySpawn(session: Session): Promise<boolean> };
  readonly pictures: { areOfUse(group: Group): boolean };
  readonly origins: Pick<Store["origins"], "lineage">;
  readonly roleOf: RoleOf;
}

/** The tools of turns, by what their conversations were offered and what their sessions may do. */
export class OfferedTools {
  readonly #options: OfferedToolsOptions;

  constructor(options: OfferedToolsOptions) {
    this.#options = options;
  }

  /** Returns the tools of this turn. */
  async of(scope: ConversationScope): Promise<TurnTools> {
    const { group, turn } = scope;
    const { origins, roleOf, tools } = this.#options;
    const provenance = () => lineageOfTurn({ origins, roleOf }, group, turn);
    return tools.of(group, turn, { ...(await this.#traitsOf(scope)), provenance });
  }

  /** Returns what the conversation would be offered if it began now. Nothing is kept. */
  async ifBegun(scope: ConversationScope): ReturnType<ConversationTools["ifBegun"]> {
    return this.#options.tools.ifBegun(scope.group, await this.#traitsOf(scope));
  }

  async #traitsOf({ group, session, settings, models }: ConversationScope) {
    const { spawning, pictures } = this.#options;
    return {
      rights: rightsOf(session.kind, { spawns: await spawning.maySpawn(session) }),
      can: { callTools: models.callsTools(group.model), seeImages: pictures.areOfUse(group) },
      settings,
    };
  }
}
