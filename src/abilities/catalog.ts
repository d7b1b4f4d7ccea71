import { heartbeat } from "./heartbeat/ability.ts";
import { tasks } from "./tasks/ability.ts";
import { webhooks } from "./webhooks/ability.ts";
import { web } from "./web/ability.ts";
import type { Intersection } from "../operations/definition/define-operation.ts";
import type { Ability, AbilityConfig } from "./define-ability.ts";

/** Every ability, in the order in which they start. They stop in the opposite one. */
export const abilities = [
  web,
  tasks,
  heartbeat,
  webhooks,
  // The next one goes here.
] as const;

type Listed = (typeof abilities)[number];
type NeedsOf<Each> =
  Each extends Ability<infer _Name, infer Needs, infer _Top, infer _OfGroup, infer _Service> ? Needs : never;
type ServiceOf<Each> =
  Each extends Ability<infer _Name, infer _Needs, infer _Top, infer _OfGroup, infer Service> ? Service : never;

/** The parts of the host that all abilities together need. */
export type AbilityNeeds = Intersection<NeedsOf<Listed>>;

/** The running abilities by name. */
export type AbilityServices = { readonly [Each in Listed as Each["name"]]: ServiceOf<Each> };

type ConfigPart<Part extends keyof AbilityConfig> = Intersection<Listed["config"][Part]>;

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
