import type { Generated } from "kysely";

import type { JobState } from "../../../domain/work/job.ts";
import type { Origin } from "../../../domain/people/origin.ts";
import type { Role } from "../../../domain/people/role.ts";
import type { MissedRule, RunState, TaskMode, TaskState } from "../../../domain/work/task.ts";
import type { NewWork, WorkState } from "../../../domain/work/work.ts";

interface WorkTable {
  readonly seq: Generated<number>;
  readonly id: string;
  readonly group_name: string;
  readonly session: string;
  readonly cause: NewWork["cause"];
  readonly due_at: number;
  readonly dedupe: string | null;
  readonly reply_to: string;
  readonly origin: Origin;
  readonly origins: string | null;
  readonly requester: string | null;
  readonly role: Role | null;
  readonly text: string;
  readonly payload: string | null;
  readonly state: WorkState;
  readonly turn: string | null;
  readonly reason: string | null;
  readonly created_at: number;
}

interface JobTable {
  readonly session: string;
  readonly id: string;
  readonly group_name: string;
  readonly generation: number;
  readonly conversation: number;
  readonly turn: string;
  readonly command: string;
  readonly state: JobState;
  readonly started_at: number;
  readonly ended_at: number | null;
  readonly exit_code: number | null;
  readonly reason: string | null;
}

interface TaskTable {
  readonly id: string;
  readonly group_name: string;
  readonly channel: string;
  readonly chat: string;
  readonly name: string;
  readonly prompt: string;
  readonly timing: string;
  readonly timezone: string;
  readonly mode: TaskMode;
  readonly missed: MissedRule;
  readonly origin: Origin;
  readonly origins: string;
  readonly requester: string | null;
  readonly role: Role;
  readonly state: TaskState;
  readonly reason: string | null;
  readonly failures: number;
  readonly next_due: number | null;
  /** Due time of the last claimed run. */
  readonly last_due: number | null;
  readonly created_at: number;
  readonly agent: string | null;
}

interface TaskRunTable {
  readonly task: string;
  readonly due: number;
  readonly work: string;
  readonly state: RunState;
  readonly claimed_at: number;
  readonly ended_at: number | null;
  readonly attempts: number;
  readonly turn: string | null;
  readonly reason: string | null;
}

/** Work, background jobs and scheduled tasks. */
export interface WorkTables {
  readonly work: WorkTable;
  readonly jobs: JobTable;
  readonly tasks: TaskTable;
  readonly task_runs: TaskRunTable;
}

export const workSchema = [
  `create table work (
     seq integer primary key autoincrement,
     id text not null unique,
     group_name text not null,
     session text not null references sessions (id),
     cause text not null check (cause in ('schedule', 'heartbeat', 'webhook', 'job-ended', 'approval', 'agent', 'api')),
     due_at integer not null,
     dedupe text unique,
     reply_to text not null,
     origin text not null,
     requester text,
     text text not null,
     state text not null check (state in ('due', 'taken', 'settled', 'dropped')),
     turn text,
     reason text,
     created_at integer not null,
     origins text,
     role text,
     payload text
   ) strict`,
  `create index work_due on work (due_at) where state = 'due'`,
  `create index work_due_by_session on work (session, due_at, seq) where state = 'due'`,
  `create index work_by_group on work (group_name, seq)`,
  `create index work_by_turn on work (turn) where turn is not null`,
  `create table jobs (
     session text not null references sessions (id),
     id text not null,
     group_name text not null,
     generation integer not null,
     conversation integer not null,
     turn text not null,
     command text not null,
     state text not null check (state in ('running', 'exited', 'stopped', 'expired', 'lost')),
     started_at integer not null,
     ended_at integer,
     exit_code integer,
     reason text,
     primary key (session, id)
   ) strict, without rowid`,
  `create index jobs_running on jobs (started_at) where state = 'running'`,
  `create index jobs_by_start on jobs (started_at)`,
  `create table tasks (
     id text primary key,
     group_name text not null,
     channel text not null,
     chat text not null,
     name text not null,
     prompt text not null,
     timing text not null,
     timezone text not null,
     mode text not null check (mode in ('group', 'isolated')),
     missed text not null check (missed in ('skip', 'latest', 'all')),
     origin text not null,
     origins text not null,
     requester text,
     role text not null,
     state text not null check (state in ('active', 'paused', 'done')),
     reason text,
     failures integer not null,
     next_due integer,
     last_due integer,
     created_at integer not null,
     agent text
   ) strict`,
  `create index tasks_due on tasks (next_due) where state = 'active'`,
  `create index tasks_by_group on tasks (group_name, created_at)`,
  `create table task_runs (
     task text not null references tasks (id) on delete cascade,
     due integer not null,
     work text not null,
     state text not null check (state in ('running', 'done', 'failed', 'cancelled', 'dropped', 'missed', 'skipped')),
     claimed_at integer not null,
     ended_at integer,
     attempts integer not null,
     turn text,
     reason text,
     primary key (task, due)
   ) strict, without rowid`,
  `create index task_runs_running on task_runs (task) where state = 'running'`,
  `create index task_runs_by_claim on task_runs (claimed_at)`,
  `create index task_runs_by_work on task_runs (work) where state = 'running'`,
];
