import { picturesBefore, picturesToRetire, retirePictures } from "../context/retired-pictures.ts";
import type { Group } from "../../domain/chats/group.ts";
import type { BlobPart } from "../../domain/chats/part.ts";
import type { Session } from "../../domain/turns/session.ts";
import type { Step } from "../../domain/turns/turn.ts";
import type { SessionStore } from "../../stores/contract/session-store.ts";

export interface ShownPicturesOptions {
  readonly sessions: Pick<SessionStore, "retirePictures">;
  /** Captions of pictures. */
  readonly captions: {
    find(sha256s: readonly string[], upTo: number): Promise<ReadonlyMap<string, string>>;
    /** Makes missing captions if possible; failures are ignored. Returns the number of the newest. */
    make(group: Group, pictures: readonly BlobPart[]): Promise<number>;
  };
}

/** Which pictures of sessions are shown as such, as they were when their turn began. */
export class ShownPictures {
  readonly #options: ShownPicturesOptions;
  readonly #retired = new WeakMap<Session, Session["retired"]>();
  readonly #captions = new WeakMap<Session, ReadonlyMap<string, string>>();

  constructor(options: ShownPicturesOptions) {
    this.#options = options;
  }

  /** The prompt changes from its beginning anyway: old pictures become words. */
  async retire(
    { group, session }: { readonly group: Group; readonly session: Session },
    steps: readonly Step[],
  ): Promise<void> {
    const retiring = picturesToRetire(steps);
    if (!retiring) return;
    const captions = await this.#options.captions.make(group, retiring.pictures);
    const retired = { from: retiring.from, captions };
    await this.#options.sessions.retirePictures(session.id, retired);
    this.#retired.set(session, retired);
    this.#captions.delete(session);
  }

  /** The steps with words in place of the others. Asks the store only where there are some. */
  async shown(session: Session, steps: readonly Step[]): Promise<readonly Step[]> {
    const retired = this.#retired.get(session) ?? session.retired;
    if (!retired) return steps;
    const gone = picturesBefore(steps, retired.from).map(({ blob }) => blob);
    if (gone.length === 0) return steps;
    const captions = this.#captions.get(session) ?? (await this.#options.captions.find(gone, retired.captions));
    this.#captions.set(session, captions);
    return retirePictures(steps, retired, captions);
  }
}
