import type { Logger } from "pino";

import type { Group } from "../../domain/chats/group.ts";
import type { Publish } from "../../domain/events/event.ts";
import type { SkillChoice } from "../../domain/sandbox/skill.ts";
import type { Session } from "../../domain/turns/session.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { InstalledRecord } from "../../records/installed-record.ts";
import type { EventStore } from "../../stores/contract/event-store.ts";
import type { FetchOptions } from "./install/fetch-source.ts";

type Folders = "skills" | "skillLock" | "groups" | "groupSkills" | "skillCopies" | "skillMapping" | "skillSync";

/** The parts of the host that skills need. */
export interface SkillServiceNeeds {
  /** Files and folders of the home. */
  readonly paths: Readonly<Record<Folders, string>>;
  readonly checkout: string;
  readonly installed: Pick<InstalledRecord, "follow">;
  /** Environment of the programs that fetch. */
  readonly variables: FetchOptions["variables"];
  readonly groups: { list(): readonly Pick<Group, "name" | "agent">[] };
  /** Skills that a group is to have. */
  readonly skillsOf: (group: string) => SkillChoice;
  /** Skills that an agent of the group has of these; undefined: all. */
  readonly agentSkillsOf: (group: Pick<Group, "name" | "agent">) => readonly string[] | undefined;
  /** Skills left to a sub-agent's session; undefined: all. */
  readonly skillsLeftTo: (session: Pick<Session, "id">) => Promise<readonly string[] | undefined>;
  /** Profiles of sub-agents. */
  readonly profiles: () => Promise<readonly { readonly name: string; readonly description: string }[]>;
  readonly store: { readonly events: Pick<EventStore, "before"> };
  readonly tellOperator: (text: string) => void;
  readonly publish: Publish;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Logger;
}
