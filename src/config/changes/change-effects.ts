import type { Config } from "../schema/config.ts";

/** When a changed setting takes effect in a running host: `now`, which is from each group's next turn on, or only with a `restart`. */
export type Effect = "now" | "restart";

type EffectsOf<Section> = { readonly [Key in keyof Section]-?: Effect };

/** Every setting has to be here, as a whole section or key by key: the compiler and a test see to it. */
export const changeEffects = {
  assistant: "now",
  timezone: "now",
  models: "now",
  budgets: "now",
  policy: "now",
  approvals: "now",
  // A channel has connections, and messages under way; a new one may need the gateway.
  channels: "restart",
  groups: "now",
  people: "now",
  members: "now",
  access: "now",
  gateway: "restart",
  sandbox: {
    // The engine is asked at the start whether it has the runtime.
    runtime: "restart",
    memoryMb: "now",
    cpus: "now",
    pids: "now",
    workspaceMb: "now",
    network: "now",
    nameservers: "now",
  },
  sessions: {
    idleStopMinutes: "now",
    freezeSeconds: "now",
    memoryReserveMb: "now",
    // The places of the queue are made once.
    maxHot: "restart",
    turnTimeoutMinutes: "now",
    holdMinutes: "now",
    silenceTimeoutSeconds: "now",
    catchUpMinutes: "now",
  },
  progress: "now",
  intake: "now",
  limits: "now",
  store: "now",
  events: "now",
  log: { level: "now", containerMb: "restart" },
} as const satisfies { readonly [Section in keyof Config]: Effect | EffectsOf<Config[Section]> };
