import type { HostEvent } from "../domain/events/event.ts";
import { from } from "../domain/rights/sourced.ts";
import type { LookUpForeword } from "../domain/turns/foreword.ts";
import type { Turn } from "../domain/turns/turn.ts";
import type { ProposalsByTool } from "../rights/approvals/proposals.ts";
import type { ToolSource } from "../tools/group-tools.ts";
import type { AbilityList, NeedsOfAll, ServicesOf } from "./catalog.ts";
import type { Ability, AbilityService, CallingTurn, Schemas } from "./define-ability.ts";

/** The surroundings of a running ability: the configuration and events. */
export interface AbilityHost {
  /** The settings as they are now, by key. */
  readonly settings: () => object;
  readonly onSettingsChange: (changed: () => void) => void;
  readonly subscribe: (name: string, handle: (event: HostEvent) => void) => unknown;
}

/** The abilities of a running host: what one calls on all of them together. */
export class RunningAbilities {
  readonly #stack: AsyncDisposableStack;
  readonly #host: AbilityHost;
  readonly #started: { readonly ability: Ability; readonly service: AbilityService }[] = [];

  /** The stack stops them, in the opposite order. */
  constructor(stack: AsyncDisposableStack, host: AbilityHost) {
    this.#stack = stack;
    this.#host = host;
  }

  /** Starts some, in their order, and gives their services. */
  async start<const List extends AbilityList>(list: List, needs: NeedsOfAll<List>): Promise<ServicesOf<List>> {
    const services: Record<string, AbilityService> = {};
    for (const ability of list as unknown as readonly Ability<string, object>[]) {
      const service = await startAbility(ability, needs as object, this.#stack, this.#host);
      this.#started.push({ ability, service });
      services[ability.name] = service;
    }
    return services as ServicesOf<List>;
  }

  /** Lets each begin what it does by itself. */
  begin(): void {
    for (const { service } of this.#started) service.begin?.();
  }

  /** Tells each that a turn has ended. */
  readonly turnEnded = (turn: Pick<Turn, "id" | "cause">): void => {
    for (const { service } of this.#started) service.turnEnded?.(turn);
  };

  /** Gives the port that the ability of this name makes for a call of one of its tools. */
  readonly portOf = async (name: string, scope: CallingTurn, signal: AbortSignal): Promise<unknown> => {
    const known = this.#started.find(({ ability }) => ability.name === name);
    if (!known?.ability.portFor) throw new Error(`the ability ${name} has no port for tools`);
    return known.ability.portFor(known.service, scope, signal);
  };

  /** Looks up what each puts before the messages of a turn. */
  readonly foreword: LookUpForeword = async (coming) => {
    const looking = this.#started.map(async ({ service }) => service.foreword?.(coming));
    const found = (await Promise.all(looking)).filter((one) => one !== undefined);
    if (found.length === 0) return undefined;
    return from(found, found.flatMap(({ text }) => (text === "" ? [] : [text])).join("\n"));
  };

  /** The changes that their tools propose to people. */
  get proposals(): ProposalsByTool {
    return new Map(this.#started.flatMap(({ service }) => Object.entries(service.proposals ?? {})));
  }

  /** Sources of tools that not every group has. */
  get toolSources(): readonly ToolSource[] {
    return this.#started.flatMap(({ service }) => service.toolSource ?? []);
  }
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
