import type { MissedRule, RunState, TaskMode, TaskState } from "../../../domain/work/task.ts";
import type { Origin } from "../../../domain/people/origin.ts";
import type { Role } from "../../../domain/people/role.ts";

export interface TaskTable {
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
  /** Of the run that was claimed last. */
  readonly last_due: number | null;
  readonly created_at: number;
  readonly agent: string | null;
}

export interface TaskRunTable {
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

/*
 * Tasks, and each due time that was claimed. What a run does is a row of the table work; its turns never have more
 * rights than `role`.
 */
export const tasks = [
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
     created_at integer not null
   ) strict`,
  `create index tasks_due on tasks (next_due) where state = 'active'`,
  `create index tasks_by_group on tasks (group_name, created_at)`,
  `create table task_runs (
     task text not null references tasks (id) on delete cascade,
     due integer not null,
     work text not null,
     state text not null
       check (state in ('running', 'done', 'failed', 'cancelled', 'dropped', 'missed', 'skipped')),
     claimed_at integer not null,
     ended_at integer,
     attempts integer not null,
     turn text,
     reason text,
     primary key (task, due)
   ) strict, without rowid`,
  `create index task_runs_running on task_runs (task) where state = 'running'`,
  `create index task_runs_by_claim on task_runs (claimed_at)`,
  `alter table work add column role text`,
];

/* Which run a turn has worked on, however many wait. */
export const taskRunsByWork = [`create index task_runs_by_work on task_runs (work) where state = 'running'`];
