import { effectsOfAbilities } from "../../abilities/catalog.ts";
import type { SettingEffect, SettingPath } from "../../domain/settings/setting.ts";
import type { Config } from "../schema/config.ts";

type EffectsOf<Section> = { readonly [Key in keyof Section]-?: SettingEffect };

/** Every setting has to be here, as a whole section or key by key: the compiler and a test see to it. */
export const changeEffects = {
  assistant: "now",
  agents: "now",
  timezone: "now",
  models: "now",
  budgets: "now",
  policy: "now",
  approvals: "now",
  ...effectsOfAbilities,
  // A channel has connections, and messages under way; a new one may need the gateway.
  channels: "restart",
  // What its tools are given was handed to them at the start.
  plugins: "restart",
  groups: "now",
  people: "now",
  members: "now",
  access: "now",
  gateway: "restart",
  sandbox: {
    // The engine is asked at the start whether it has the runtime.
    runtime: "restart",
    memoryMb: "container",
    cpus: "container",
    pids: "container",
    workspaceMb: "now",
    network: "container",
    nameservers: "container",
  },
  sessions: {
    visibility: "now",
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
} as const satisfies { readonly [Section in keyof Config]: SettingEffect | EffectsOf<Config[Section]> };

/** Settings that determine a group's container; others are read when needed. */
const containerSettings: ReadonlySet<unknown> = new Set(["image", "mounts", "network", "secrets", "skills"]);

/** When a change at this path takes effect, as long as what it belongs to does not need a restart as a whole. */
export function effectAt(path: SettingPath): SettingEffect {
  const [section = "", key = "", setting] = path;
  if (section === "groups") return containerSettings.has(setting) ? "container" : "now";
  const effect: unknown = changeEffects[section as keyof Config];
  if (typeof effect === "string") return effect as SettingEffect;
  return (effect as Readonly<Record<string, SettingEffect>> | undefined)?.[key] ?? "restart";
}
