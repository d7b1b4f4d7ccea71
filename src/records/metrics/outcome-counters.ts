import { Counter, type Registry } from "prom-client";

/** What is counted by what came of it, and by nothing else: the metric's name, and what it says. */
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
  /** What became of a background job: `started`, or how it ended. */
  job: ["crabpot_jobs_total", "Background jobs of agents: started, and how they ended"],
  /**
   * What became of a skill: `loaded`, `refused`, `changed`, `outdated` (its source has another version), `not compared`
   * (its source cannot be asked).
   */
  skill: [
    "crabpot_skills_total",
    "Skills of groups: loaded by an agent, refused, changed because people allowed it, outdated, not compared with their source",
  ],
  /** What became of an image with packages: `built`, `failed`, `removed`. */
  image: ["crabpot_images_total", "Images with packages of groups: built, failed, removed"],
  /** What became of a picture: `kept`, `described`, `refused`, `failed`. */
  picture: ["crabpot_pictures_total", "Pictures that were to be shown to models: kept, described, refused, failed"],
  /** What became of words that an agent wanted to be said aloud: `made`, `refused`. */
  voice: ["crabpot_voice_messages_total", "Voice messages of agents: made, refused"],
  /** What became of a plugin: `refused`, `ended`. */
  plugin: [
    "crabpot_plugins_total",
    "Plugins that were refused, and processes of plugins that ended without being asked to",
  ],
  /** What became of an MCP server: `opened`, `closed`, `failed`, `changed`. */
  mcp: ["crabpot_mcp_total", "MCP servers: opened, closed, failed, with changed tools"],
  /** Somebody follows events over HTTP: `opened`, and why it ended, such as `left` or `slow`. */
  watch: ["crabpot_watches_total", "Subscribers of events over HTTP: opened, and why they ended"],
  /**
   * What became of the older part of a conversation: `compacted`, `evicted`; `refused`: an answer that was no summary.
   */
  context: [
    "crabpot_context_total",
    "Compactions of conversations: compacted, evicted, and answers of models that were refused as summaries",
  ],
  /**
   * What became of memories: `kept`, `extracted`, `noted`, `refused`, `stored`, `forgotten`, `cleaned`; `failed`: one
   * cannot be used.
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
