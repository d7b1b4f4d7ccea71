import type { Group } from "../../domain/chats/group.ts";
import type { ConversationPrompt } from "../../domain/turns/conversation.ts";
import type { ToolDefinition } from "../../domain/turns/model.ts";
import { isSessionOf, type Session } from "../../domain/turns/session.ts";
import type { Turn } from "../../domain/turns/turn.ts";
import type { SessionGroups, TurnModels } from "../collaborators.ts";
import type { OfferedTools } from "../tool-calls/offered-tools.ts";
import type { ConversationPrompts } from "./conversation-prompts.ts";

/** Content of the first call of a conversation. */
export type FirstCall = Pick<ConversationPrompt, "system" | "sections"> & { readonly tools: readonly ToolDefinition[] };

/**
 * Returns what the first call of a session's conversation would have, if it began now; undefined: its group is gone.
 */
export async function firstCallOf(
  parts: {
    readonly registered: { list(): readonly Group[] };
    readonly groups: SessionGroups;
    readonly models: TurnModels;
    readonly offered: Pick<OfferedTools, "ifBegun">;
    readonly prompts: Pick<ConversationPrompts, "ifBegun">;
  },
  session: Session,
): Promise<FirstCall | undefined> {
  const known = parts.registered.list().find((one) => isSessionOf(session, one));
  if (!known) return undefined;
  const { group, settings } = await parts.groups.forSession(known, session);
  using models = parts.models.hold();
  const { id, conversation } = session;
  const turn = { id: "", session: id, group: group.name, conversation } as Turn;
  const scope = { turn, group, session, settings, models };
  const tools = await parts.offered.ifBegun(scope);
  return { ...(await parts.prompts.ifBegun(scope, tools)), tools: tools.definitions };
}
