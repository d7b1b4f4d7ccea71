import type { Logger } from "pino";

import type { Group } from "../../domain/chats/group.ts";
import type { Publish } from "../../domain/events/event.ts";
import type { Fingerprint } from "../../domain/fingerprint.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { ConfiguredModels } from "../../models/configured-models.ts";
import type { RoleOf } from "../../rights/people/roles.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { ServerOfProvider } from "./embedding/embedder-source.ts";

/** The parts of the host that memories need. */
export interface MemoryServiceNeeds {
  /** The home, and its folder of memories. */
  readonly paths: { readonly root: string; readonly memory: string };
  readonly serverOfProvider: ServerOfProvider;
  readonly groups: { list(): readonly Group[] };
  /** The group as one of its agents has it. */
  readonly groupWithAgent: (group: Group, agent: string) => Group;
  readonly agentNameOf: (group: Pick<Group, "agent">) => string;
  readonly roleOf: RoleOf;
  /** The number of a message as models know it. */
  readonly messageIdOf: (seq: number) => string;
  readonly fingerprint: (text: string) => Fingerprint;
  /** The zone of the host's clock, and of a group's. */
  readonly timeZone: () => string;
  readonly timeZoneOf: (group: string) => string;
  readonly models: Pick<ConfiguredModels, "complete">;
  readonly store: Pick<Store, "messages" | "turns" | "sessions" | "outbox" | "origins">;
  readonly publish: Publish;
  readonly clock: Clock;
  readonly logger: Logger;
}
