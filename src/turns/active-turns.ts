import type { Turn } from "../domain/turns/turn.ts";

/** A turn in a container. */
interface TurnInContainer {
  readonly group: string;
  /** Set once the turn is cancelled. */
  readonly cancelled: object | undefined;
  cancel(why: { readonly state: "cancelled"; readonly reason: string }): void;
}

/** The turns that this host works on. */
export class ActiveTurns {
  /** By session, while a container works on the turn or is waited for. */
  readonly #inContainers = new Map<string, TurnInContainer>();
  /** By turn, from its first work until its end is on record; true: the store has ended it meanwhile. */
  readonly #known = new Map<string, boolean>();

  /** Releases a turn that the store has ended. False when nobody works on it. */
  cancel(turn: Pick<Turn, "id" | "session">, reason: string): boolean {
    if (!this.#known.has(turn.id)) return false;
    this.#known.set(turn.id, true);
    this.#inContainers.get(turn.session)?.cancel({ state: "cancelled", reason });
    return true;
  }

  /** True when a turn of this group, or of this session, is running. */
  isActive(group: string, session?: string): boolean {
    return [...this.#inContainers].some(
      ([id, active]) => active.group === group && (session ?? id) === id && !active.cancelled,
    );
  }

  /** Adds a turn, before it is in the store: from then on it can be cancelled. */
  add(turn: string): Disposable {
    this.#known.set(turn, false);
    return { [Symbol.dispose]: () => this.#known.delete(turn) };
  }

  /** True when the store has ended the turn while it was worked on. */
  wasEnded({ id }: Pick<Turn, "id">): boolean {
    return this.#known.get(id) === true;
  }

  /** Notes that a container begins to work on the session's turn. */
  began(session: string, active: TurnInContainer): void {
    this.#inContainers.set(session, active);
  }

  /** Notes that no container works on the session's turn. */
  left(session: string): void {
    this.#inContainers.delete(session);
  }
}
