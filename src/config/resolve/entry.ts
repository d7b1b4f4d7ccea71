import { mainAgent } from "../../domain/turns/session.ts";
import type { Config } from "../schema/config.ts";

/** Configuration of the group with this name, which may also be the name of an object's property; undefined: none. */
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
