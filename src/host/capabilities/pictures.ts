import { PictureCaptions } from "../../stores/blobs/describe-picture.ts";
import { keepImage } from "../../abilities/media/keep-picture.ts";
import { keepMemberImages } from "../../abilities/media/member-images.ts";
import { formatCaption } from "../../turns/context/caption.ts";
import type { Group } from "../../domain/chats/group.ts";
import type { StoredAttachment } from "../../domain/chats/message.ts";
import { type BlobPart, originalTypes, type Part } from "../../domain/chats/part.ts";
import { seesImages } from "../../models/knowledge/capabilities.ts";
import type { ProviderSet } from "../../models/routes/provider-set.ts";
import type { ShownPicturesOptions } from "../../turns/conversation/shown-pictures.ts";
import type { TurnPictures } from "../../turns/collaborators.ts";
import { createBlobRoom } from "../../stores/blobs/blob-room.ts";
import { reserveBytes } from "../storage.ts";
import type { AppContext } from "../context.ts";
import { createConfiguredModels } from "../models.ts";

/** Pictures for models: as images, as captions of a vision model, or as notes. */
export interface Pictures {
  readonly forTurns: TurnPictures;
  /** Whether it is of use to this group's agent to look at pictures. */
  readonly areOfUse: (group: Group) => boolean;
  readonly captions: ShownPicturesOptions["captions"];
}

const unseen = "a picture, which you cannot see: no model of this group can";

export function createPictures(context: AppContext, providers: ProviderSet): Pictures {
  const { config, home, store } = context;
  const hasRoom = createBlobRoom(home.paths.blobs, () => reserveBytes(context.live), store.blobs);
  const options = { ...context, hasRoom };
  const captions = createCaptions(context, providers);
  const sees = ({ model }: Group): boolean => seesImages(config.models, model);
  const hasWords = (): boolean => config.media.vision !== undefined;
  const shownTo = async (group: Group, kept: BlobPart | string): Promise<Part | string> =>
    typeof kept === "string" || sees(group) ? kept : captions.of(group, kept);
  return {
    areOfUse: (group) => sees(group) || hasWords(),
    forTurns: {
      imagesOf: async (group, messages) => {
        const attached = messages.flatMap(({ attachments = [] }) => attachments);
        if (!sees(group) && !hasWords()) return notes(attached);
        const kept = await keepMemberImages({ ...options, groupsFolder: home.paths.groups }, group.name, messages);
        if (sees(group)) return kept;
        const shown = new Map<StoredAttachment, Part | string>();
        for (const [attachment, picture] of kept) shown.set(attachment, await shownTo(group, picture));
        return shown;
      },
      keepImage: async (image) => shownTo(image.group, await keepImage(options, { ...image, group: image.group.name })),
    },
    captions: {
      find: (sha256s, upTo) => store.blobs.captionsOf(sha256s, upTo),
      make: async (group, pictures) => {
        if (hasWords()) for (const picture of pictures) await captions.of(group, picture);
        return store.blobs.lastCaption();
      },
    },
  };
}

function notes(attached: readonly StoredAttachment[]): ReadonlyMap<StoredAttachment, string> {
  const pictures = attached.filter(({ file }) => file && originalTypes.has(file.mimeType));
  return new Map(pictures.map((attachment) => [attachment, unseen]));
}

function createCaptions(context: AppContext, providers: ProviderSet): PictureCaptions {
  const { config, store, clock, publish, logger } = context;
  const models = createConfiguredModels(context, providers);
  const ask = async (
    group: Group,
    {
      system,
      picture,
      mostTokens,
    }: { readonly system: string; readonly picture: BlobPart; readonly mostTokens: number },
    signal: AbortSignal,
  ): Promise<{ readonly text: string; readonly model: string }> => {
    return models.complete({
      group: group.name,
      route: config.media.vision,
      groupBudget: group.budget,
      system: [system],
      messages: [{ role: "user", parts: [picture] }],
      tools: [],
      mostTokens,
      signal,
    });
  };
  return new PictureCaptions({ blobs: store.blobs, ask, inPrompt: formatCaption, clock, publish, logger });
}
