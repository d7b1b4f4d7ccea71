import type { Actor } from "../people/actor.ts";
import type { HostEventData } from "./data/host.ts";
import type { IntakeEventData } from "./data/intake.ts";
import type { McpEventData } from "./data/mcp.ts";
import type { MediaEventData } from "./data/media.ts";
import type { TurnEventData } from "./data/turn.ts";
import type { ContainerEventData } from "./data/container.ts";
import type { WebEventData } from "./data/web.ts";

/**
 * What each type of event says. Texts that people or agents wrote stay out, except for `command.given` (the words
 * behind the command), `agent.failed` and `agent.overstepped` (what the agent says or did), and names of files. What
 * names other groups has no `group` of its own, so that it never reaches a reader of that group's events: its data says
 * whom it is about.
 */
export interface EventData
  extends
    HostEventData,
    IntakeEventData,
    TurnEventData,
    ContainerEventData,
    McpEventData,
    MediaEventData,
    WebEventData {}

export type EventType = keyof EventData;

/** An event as a part of the host tells it. */
export type NewEvent<Type extends EventType = EventType> = {
  [Each in Type]: {
    readonly type: Each;
    /** Whose it is; absent for what belongs to no group or names others. */
    readonly group?: string | undefined;
    readonly session?: string | undefined;
    readonly turn?: string | undefined;
    readonly actor: Actor;
    readonly data: EventData[Each];
  };
}[Type];

/** `seq` counts from 1 without a gap, in the order of publishing; `at` is the host's clock, milliseconds since 1970. */
export type HostEvent<Type extends EventType = EventType> = NewEvent<Type> & {
  readonly seq: number;
  readonly at: number;
};

/**
 * Resolves when the event is stored and on record: what it announces may be done then. Rejects with an AppError when it
 * could not be written; that error is passing where trying again helps.
 */
export type Publish<Type extends EventType = EventType> = (event: NewEvent<Type>) => Promise<void>;
