import { mainAgent } from "../../domain/turns/session.ts";
import type { Config } from "../schema/config.ts";

/**
 * What is configured for the group of this name, which may be one of those that every object has; undefined: nothing.
 */
export function entryOf({ groups }: Pick<Config, "groups">, name: string): Config["groups"][string] | undefined {
  return Object.hasOwn(groups, name) ? groups[name] : undefined;
}

/** Id of the agent that has what is for no other one. */
export function firstAgent({
  agent = mainAgent,
  agents,
}: Partial<Pick<Config["groups"][string], "agent" | "agents">>): string {
  return agents?.[0] ?? agent;
}
