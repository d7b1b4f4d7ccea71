import type { Generated } from "kysely";

import type { Role } from "../../../domain/people/role.ts";
import type { SubAgentState } from "../../../domain/work/sub-agent.ts";

interface SubAgentTable {
  readonly number: number;
  readonly group_name: string;
  readonly session: string | null;
  readonly parent: string;
  readonly conversation: number;
  readonly turn: string;
  readonly step: number;
  readonly call_id: string;
  readonly position: number;
  readonly depth: number;
  readonly background: number;
  readonly forks_from: number | null;
  readonly task: string;
  readonly profile: string | null;
  readonly requester: string | null;
  readonly role: Role;
  readonly state: SubAgentState;
  readonly text: string | null;
  readonly origins: string;
  readonly files: string;
  readonly created_at: number;
  readonly expires_at: number;
  readonly ended_at: number | null;
  readonly delivered_at: number | null;
  readonly released_at: number | null;
  readonly removed_at: number | null;
  readonly told: Generated<number>;
  readonly route: string | null;
}

/** The last number that was given to a sub-agent, whether it has begun or not. */
interface SubAgentNumberTable {
  readonly id: number;
  readonly last: number;
}

/** Sub-agents. */
export interface SubAgentTables {
  readonly sub_agents: SubAgentTable;
  readonly sub_agent_numbers: SubAgentNumberTable;
}

export const subAgentSchema = [
  `create table sub_agents (
     number integer primary key,
     group_name text not null,
     session text unique references sessions (id),
     parent text not null references sessions (id),
     conversation integer not null,
     turn text not null references turns (id),
     step integer not null,
     call_id text not null,
     position integer not null,
     depth integer not null,
     background integer not null,
     forks_from integer,
     task text not null,
     profile text,
     requester text,
     role text not null,
     state text not null,
     text text,
     origins text not null,
     files text not null,
     created_at integer not null,
     expires_at integer not null,
     ended_at integer,
     delivered_at integer,
     released_at integer,
     removed_at integer,
     told integer not null default 0,
     route text,
     unique (step, position)
   ) strict`,
  `create index sub_agents_live on sub_agents (number) where removed_at is null`,
  `create index sub_agents_of_turn on sub_agents (turn)`,
  `create table sub_agent_numbers (id integer primary key check (id = 1), last integer not null) strict`,
  `insert into sub_agent_numbers (id, last) values (1, 0)`,
];
