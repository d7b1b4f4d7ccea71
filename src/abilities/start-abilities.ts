import type { HostEvent } from "../domain/events/event.ts";
import type { Turn } from "../domain/turns/turn.ts";
import { type AbilityNeeds, type AbilityServices, abilities } from "./catalog.ts";
import type { Ability, AbilityService, CallingTurn, Schemas } from "./define-ability.ts";

/** The surroundings of a running ability: the configuration and events. */
export interface AbilityHost {
  /** The settings as they are now, by key. */
  readonly settings: () => object;
  readonly onSettingsChange: (changed: () => void) => void;
  readonly subscribe: (name: string, handle: (event: HostEvent) => void) => unknown;
}

/** The abilities of a running host. */
export interface RunningAbilities {
  readonly services: AbilityServices;
  /** Gives the port that the ability of this name makes for a call of one of its tools. */
  readonly portOf: (name: string, scope: CallingTurn, signal: AbortSignal) => Promise<unknown>;
  /** Lets each begin what it does by itself. */
  readonly begin: () => void;
  /** Tells each that a turn has ended. */
  readonly turnEnded: (turn: Pick<Turn, "id" | "cause">) => void;
}

/** Starts the abilities in the order of the catalog. The stack stops them in the opposite one. */
export async function startAbilities(
  needs: AbilityNeeds,
  stack: AsyncDisposableStack,
  host: AbilityHost,
): Promise<RunningAbilities> {
  const started = new Map<
    string,
    { readonly ability: Ability<string, AbilityNeeds>; readonly service: AbilityService }
  >();
  for (const ability of abilities as unknown as readonly Ability<string, AbilityNeeds>[])
    started.set(ability.name, { ability, service: await startAbility(ability, needs, stack, host) });
  const services = Object.fromEntries([...started].map(([name, { service }]) => [name, service]));
  return {
    services: services as unknown as AbilityServices,
    portOf: async (name, scope, signal) => {
      const known = started.get(name);
      if (!known?.ability.portFor) throw new Error(`the ability ${name} has no port for tools`);
      return known.ability.portFor(known.service, scope, signal);
    },
    begin: () => {
      for (const { service } of started.values()) service.begin?.();
    },
    turnEnded: (turn) => {
      for (const { service } of started.values()) service.turnEnded?.(turn);
    },
  };
}

/** Starts one ability. The stack stops it. */
export async function startAbility<Needs, Top extends Schemas, OfGroup extends Schemas, Service extends AbilityService>(
  { name, start, on }: Ability<string, Needs, Top, OfGroup, Service>,
  needs: Needs,
  stack: AsyncDisposableStack,
  { settings, onSettingsChange, subscribe }: AbilityHost,
): Promise<Service> {
  // The configuration has all keys of all abilities, as their schemas give them.
  const service = stack.use(await start(needs, settings as never));
  if (service.settingsChanged) onSettingsChange(() => service.settingsChanged?.());
  if (on) {
    const handlers = on as Readonly<Record<string, ((service: Service, event: HostEvent) => void) | undefined>>;
    subscribe(name, (event) => handlers[event.type]?.(service, event));
  }
  return service;
}
