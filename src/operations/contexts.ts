import type { ContextView } from "../domain/context-view.ts";
import type { Group, GroupChat } from "../domain/group.ts";
import { isSessionOf, mainSessionKeys, type Session } from "../domain/session.ts";
import { AppError } from "../lib/app-error.ts";
import { ownCommand } from "../lib/process/own-command.ts";
import { requireGroup } from "./require-group.ts";

/** Which conversation is meant. */
export interface ContextQuery {
  readonly group: string;
  /** Id, its beginning, or key; undefined: the main one of the group's first agent. */
  readonly session?: string | undefined;
  /** All entries are listed. */
  readonly raw?: boolean | undefined;
}

export interface ContextOptions {
  readonly store: { readonly sessions: { list(): Promise<readonly Session[]> } };
  readonly groups: { list(): readonly (GroupChat & Partial<Pick<Group, "agent" | "agents" | "model">>)[] };
  readonly viewContext: (
    session: Session,
    how: { readonly route: string | undefined; readonly listsEntries: boolean },
  ) => Promise<ContextView>;
}

/** What stands in the prompts of a group's conversation. Throws `not_found` where there is no such group or session. */
export async function showContext(
  { store, groups, viewContext }: ContextOptions,
  { group: name, session: given, raw = false }: ContextQuery,
): Promise<ContextView> {
  const group = requireGroup(groups.list(), name);
  const all = (await store.sessions.list()).filter((session) => isSessionOf(session, group));
  const [main] = mainSessionKeys(group);
  const found = all.filter(({ id, key }) =>
    given === undefined ? key === main : key === given || id.startsWith(given),
  );
  const [session] = found;
  if (session && found.length === 1) return viewContext(session, { route: group.model, listsEntries: raw });
  if (found.length > 1)
    throw new AppError("bad_input", `Several sessions of group ${name} begin with "${given}".`, {
      fix: "write more of it",
    });
  const what = given === undefined ? "Nothing has been said to the agent" : `There is no session "${given}"`;
  throw new AppError("not_found", `${what} in group ${name}.`, { fix: ownCommand("sessions list") });
}
