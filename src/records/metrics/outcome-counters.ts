import { Counter, type Registry } from "prom-client";

/** Metrics that count by outcome only: name and help. */
const counted = {
  /** Calls of webhooks, by what came of them. */
  webhook: ["crabpot_webhooks_total", "Calls of webhooks: stored, duplicate, or why they were refused"],
  /** Agents look by themselves, or do not for this reason. */
  heartbeat: [
    "crabpot_heartbeats_total",
    "Heartbeats of agents whose file says something: begun, or why they were skipped",
  ],
  /** A due time of a task was claimed, passed by, or its run ended in this way. */
  taskRun: ["crabpot_task_runs_total", "Runs of tasks, by outcome: claimed, missed, retried, or how they ended"],
  /** Outcomes of background jobs: `started`, or the kind of end. */
  job: ["crabpot_jobs_total", "Background jobs of agents: started, and how they ended"],
  /**
   * Outcomes of skills: `loaded`, `refused`, `changed`, `outdated` (new version at the source), `not compared`
   * (unreachable source).
   */
  skill: [
    "crabpot_skills_total",
    "Skills of groups: loaded by an agent, refused, changed because people allowed it, outdated, not compared with their source",
  ],
  /** Outcomes of images with packages: `built`, `failed`, `removed`. */
  image: ["crabpot_images_total", "Images with packages of groups: built, failed, removed"],
  /** Outcomes of pictures: `kept`, `described`, `refused`, `failed`. */
  picture: ["crabpot_pictures_total", "Pictures that were to be shown to models: kept, described, refused, failed"],
  /** Outcomes of spoken messages: `made`, `refused`. */
  voice: ["crabpot_voice_messages_total", "Voice messages of agents: made, refused"],
  /** Outcomes of plugins: `refused`, `ended`. */
  plugin: [
    "crabpot_plugins_total",
    "Plugins that were refused, and processes of plugins that ended without being asked to",
  ],
  /** Outcomes of MCP servers: `opened`, `closed`, `failed`, `changed`. */
  mcp: ["crabpot_mcp_total", "MCP servers: opened, closed, failed, with changed tools"],
  /** Subscriptions over HTTP: `opened`, or the reason of the end, such as `left` or `slow`. */
  watch: ["crabpot_watches_total", "Subscribers of events over HTTP: opened, and why they ended"],
  /** Outcomes of compaction: `compacted`, `evicted`; `refused`: the answer was no summary. */
  context: [
    "crabpot_context_total",
    "Compactions of conversations: compacted, evicted, and answers of models that were refused as summaries",
  ],
  /**
   * Outcomes of memories: `kept`, `extracted`, `noted`, `refused`, `stored`, `forgotten`, `cleaned`; `failed`:
   * unusable.
   */
  memory: [
    "crabpot_memories_total",
    "Memories of groups: kept of what was said, extracted from it, noted of a day or refused, stored by an agent, forgotten, cleaned away as too old",
  ],
} as const;

export type OutcomeCounters = {
  readonly [Name in keyof typeof counted]: (outcome: string, count?: number) => void;
};

export function countOutcomes(registers: Registry[]): OutcomeCounters {
  const counters = Object.entries(counted).map(([key, [name, help]]) => {
    const counter = new Counter({ name, help, labelNames: ["outcome"], registers });
    return [key, (outcome: string, count = 1): void => counter.inc({ outcome }, count)] as const;
  });
  return Object.fromEntries(counters) as OutcomeCounters;
}
