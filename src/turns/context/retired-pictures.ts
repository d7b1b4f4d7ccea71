import type { BlobPart } from "../../domain/chats/part.ts";
import type { Session } from "../../domain/turns/session.ts";
import { blobsOf, type Step } from "../../domain/turns/turn.ts";
import { withoutImages } from "./image-limit.ts";

/** Turns with pictures, of the newest, whose pictures stay when a window is cut. */
const turnsKept = 3;

/**
 * Step from which pictures stay when a prompt is rebuilt: the first of the last turns with any. Undefined: all stay.
 * Call it only when a window is cut or a conversation is shortened.
 */
export function picturesToRetire(
  steps: readonly Step[],
): { readonly from: number; readonly pictures: readonly BlobPart[] } | undefined {
  const withPictures = steps.filter(({ body }) => picturesIn(body).length > 0);
  const turns = [...new Set(withPictures.map(({ turn }) => turn))];
  const kept = new Set(turns.slice(-turnsKept));
  const [first] = withPictures.filter(({ turn }) => kept.has(turn));
  if (first === undefined || kept.size === turns.length) return undefined;
  return { from: first.seq, pictures: picturesBefore(steps, first.seq) };
}

/** Pictures of steps before this one. */
export function picturesBefore(steps: readonly Step[], from: number): readonly BlobPart[] {
  return steps.filter(({ seq }) => seq < from).flatMap(({ body }) => picturesIn(body));
}

/** Replaces pictures that a session no longer shows by words: captions, if any. */
export function retirePictures(
  steps: readonly Step[],
  retired: Session["retired"],
  captions: ReadonlyMap<string, string>,
): readonly Step[] {
  if (!retired) return steps;
  const gone = new Set(picturesBefore(steps, retired.from));
  return gone.size === 0 ? steps : steps.map((step) => withoutImages(step, gone, captions));
}

function picturesIn(body: Step["body"]): readonly BlobPart[] {
  return blobsOf(body).filter(({ kind }) => kind === "image");
}
