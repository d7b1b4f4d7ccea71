import { heartbeat } from "./heartbeat/ability.ts";
import { memory } from "./memory/ability.ts";
import { packages } from "./packages/ability.ts";
import { skills } from "./skills/ability.ts";
import { mcp } from "./mcp/ability.ts";
import { media } from "./media/ability.ts";
import { jobs } from "./jobs/ability.ts";
import { subAgents } from "./sub-agents/ability.ts";
import { tasks } from "./tasks/ability.ts";
import { webhooks } from "./webhooks/ability.ts";
import { web } from "./web/ability.ts";
import type { Intersection } from "../operations/definition/define-operation.ts";
import type { Ability, AbilityConfig } from "./define-ability.ts";

/** Abilities that containers are made with. They start before those, in this order. */
export const firstAbilities = [skills] as const;

/** All others, in the order in which they start. Abilities stop in the opposite one. */
export const otherAbilities = [
  web,
  tasks,
  heartbeat,
  webhooks,
  packages,
  memory,
  media,
  mcp,
  jobs,
  subAgents,
  // The next one goes here.
] as const;

const abilities = [...firstAbilities, ...otherAbilities] as const;

type NeedsOf<Each> =
  Each extends Ability<infer _Name, infer Needs, infer _Top, infer _OfGroup, infer _Service> ? Needs : never;
type ServiceOf<Each> =
  Each extends Ability<infer _Name, infer _Needs, infer _Top, infer _OfGroup, infer Service> ? Service : never;

/** Abilities of which each has a name. */
export type AbilityList = readonly { readonly name: string }[];

/** The parts of the host that these abilities together need. */
export type NeedsOfAll<List extends AbilityList> = Intersection<NeedsOf<List[number]>>;

/** The services of these abilities by name. */
export type ServicesOf<List extends AbilityList> = {
  readonly [Each in List[number] as Each["name"]]: ServiceOf<Each>;
};

/** The running abilities by name. */
export type AbilityServices = ServicesOf<typeof abilities>;

type ConfigPart<Part extends keyof AbilityConfig> = Intersection<(typeof abilities)[number]["config"][Part]>;

/** Schemas of the keys that abilities have at the top of config.yaml. */
export const settingsOfAbilities = joined("top");

/** Schemas of the keys that abilities have in entries of `groups`. */
export const groupSettingsOfAbilities = joined("ofGroup");

/** When changes of their settings take effect. */
export const effectsOfAbilities = joined("effects");

/** The tools of all abilities. */
export const toolsOfAbilities = abilities.flatMap(({ tools }) => tools);

function joined<Part extends keyof AbilityConfig>(part: Part): ConfigPart<Part> {
  return Object.assign({}, ...abilities.map(({ config }) => config[part])) as ConfigPart<Part>;
}
