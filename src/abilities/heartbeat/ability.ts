import { defineAbility } from "../define-ability.ts";
import { heartbeatConfig } from "./config.ts";
import type { HeartbeatNeeds } from "./heartbeats.ts";

/** Lets agents look by themselves at what is due. */
export const heartbeat = defineAbility<HeartbeatNeeds>()({
  name: "heartbeat",
  config: heartbeatConfig,
  start: async (needs) => {
    const { Heartbeats } = await import("./heartbeats.ts");
    return new Heartbeats(needs);
  },
  on: {
    "group.added": (heartbeats) => heartbeats.changed(),
    "group.removed": (heartbeats) => heartbeats.changed(),
  },
});
