import type * as z from "zod";

import type { EventType, HostEvent } from "../domain/events/event.ts";
import type { Group } from "../domain/chats/group.ts";
import type { ResolvedGroup } from "../domain/settings/resolved-group.ts";
import type { LookUpForeword } from "../domain/turns/foreword.ts";
import type { Session } from "../domain/turns/session.ts";
import type { SettingEffect } from "../domain/settings/setting.ts";
import type { Turn } from "../domain/turns/turn.ts";
import type { Proposals } from "../rights/approvals/proposals.ts";
import type { AbilityTool, HostTool } from "../tools/define-tool.ts";
import type { ToolSource } from "../tools/group-tools.ts";

/** Schemas by key. */
export type Schemas = Readonly<Record<string, z.ZodType>>;

/** The values that these schemas give. */
export type ValuesOf<Keys extends Schemas> = { readonly [Key in keyof Keys]: z.output<Keys[Key]> };

/** The part of config.yaml that an ability is configured with. */
export interface AbilityConfig<Top extends Schemas = Schemas, OfGroup extends Schemas = Schemas> {
  /** Keys at the top of the file. */
  readonly top: Top;
  /** Keys of each entry of `groups`. */
  readonly ofGroup: OfGroup;
  /** When a change of a key at the top takes effect. */
  readonly effects: { readonly [Key in keyof Top]: SettingEffect };
}

/** The running part of an ability. Its operations and tools work with it. */
export interface AbilityService extends AsyncDisposable {
  /** Starts the ability's own activity. Called once, when all parts exist. */
  begin?(): void;
  /** Reports a changed configuration. Must not throw. */
  settingsChanged?(): void;
  /** Tells that a turn has ended, whatever began it. Must not throw. */
  turnEnded?(turn: Pick<Turn, "id" | "cause">): void;
  /** Looks up what goes before the messages of a turn. */
  readonly foreword?: LookUpForeword;
  /** Changes that tools of the ability propose to people, by tool. */
  readonly proposals?: Readonly<Record<string, Proposals>>;
  /** Tools that not every group has. */
  readonly toolSource?: ToolSource;
}

/** The turn in which a tool is called. */
export interface CallingTurn {
  readonly turn: Turn;
  readonly group: Group;
  readonly session: Session;
  /** The group's settings as this turn's agent has them. */
  readonly settings: ResolvedGroup;
}

/** Handlers of events by type. They get an event a moment after it took effect, and may throw: that is logged. */
export type EventHandlers<Service> = {
  readonly [Type in EventType]?: (service: Service, event: HostEvent<Type>) => void;
};

/** An ability of agents or operators, as one value. */
export interface Ability<
  Name extends string = string,
  Needs = never,
  Top extends Schemas = Schemas,
  OfGroup extends Schemas = Schemas,
  Service extends AbilityService = AbilityService,
> {
  readonly name: Name;
  readonly config: AbilityConfig<Top, OfGroup>;
  readonly tools: readonly HostTool[];
  readonly on?: EventHandlers<Service> | undefined;
  /** Starts the service. Loads its modules by `import()`, so that reading the definition does not load them. */
  readonly start: (needs: Needs, settings: () => ValuesOf<Top>) => Promise<Service>;
  /** Makes the port of a tool of the ability, for one call, until the signal. */
  readonly portFor?: ((service: Service, scope: CallingTurn, signal: AbortSignal) => unknown) | undefined;
}

/** The definition of an ability as its author writes it: `defineAbility<Needs>()({ … })`. */
interface AbilityDefinition<
  Name extends string,
  Needs,
  Top extends Schemas,
  OfGroup extends Schemas,
  Service extends AbilityService,
  Port,
> {
  readonly name: Name;
  readonly config?: AbilityConfig<Top, OfGroup>;
  /** Those that need a port are defined with `defineAbilityTool`, others with `defineTool`. */
  readonly tools?: readonly (AbilityTool<Port> | HostTool)[];
  readonly start: (needs: Needs, settings: () => ValuesOf<Top>) => Promise<Service>;
  /** Follows `start`, which determines its types; so does `on`. */
  readonly portFor?: (service: Service, scope: CallingTurn, signal: AbortSignal) => Port | Promise<Port>;
  readonly on?: EventHandlers<Service>;
}

const noSettings = { top: {}, ofGroup: {}, effects: {} } as const;

/** Defines an ability. `Needs` are the parts of the host that its service is made of. */
export function defineAbility<Needs>() {
  return <
    const Name extends string,
    Service extends AbilityService,
    Port = undefined,
    Top extends Schemas = (typeof noSettings)["top"],
    OfGroup extends Schemas = (typeof noSettings)["ofGroup"],
  >({
    tools = [],
    config = noSettings as AbilityConfig as AbilityConfig<Top, OfGroup>,
    ...rest
  }: AbilityDefinition<Name, Needs, Top, OfGroup, Service, Port>): Ability<Name, Needs, Top, OfGroup, Service> => ({
    ...rest,
    config,
    tools: tools.map((tool) => ("of" in tool ? tool.of(rest.name) : { ...tool, ability: rest.name })),
  });
}
