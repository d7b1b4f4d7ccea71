import type { Actor } from "../people/actor.ts";
import type { HostEventData } from "./data/host.ts";
import type { IntakeEventData } from "./data/intake.ts";
import type { McpEventData } from "./data/mcp.ts";
import type { MediaEventData } from "./data/media.ts";
import type { TurnEventData } from "./data/turn.ts";
import type { ContainerEventData } from "./data/container.ts";
import type { WebEventData } from "./data/web.ts";

/**
 * Data of each event type. Text by people or agents stays out, except for `command.given` (the command's argument),
 * `agent.failed`, `agent.overstepped` (the agent's words or acts) and file names. Events that name other groups carry
 * no `group`, so that no reader of a single group sees them.
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
    /** Group of the event; absent when it belongs to none or names others. */
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
