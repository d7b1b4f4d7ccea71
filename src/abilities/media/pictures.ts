import type { Group } from "../../domain/chats/group.ts";
import type { StoredAttachment, StoredMessage } from "../../domain/chats/message.ts";
import { type BlobPart, originalTypes, type Part } from "../../domain/chats/part.ts";
import { seesImages } from "../../models/knowledge/capabilities.ts";
import type { BlobStore } from "../../stores/contract/blob-store.ts";
import { type KeepImageOptions, keepImage, type ShownImage } from "./keep-picture.ts";
import { keepMemberImages } from "./member-images.ts";
import type { PictureCaptions } from "./picture-captions.ts";

interface PicturesOptions extends KeepImageOptions {
  readonly groupsFolder: string;
  readonly captions: PictureCaptions;
  readonly captionRows: Pick<BlobStore, "captionsOf" | "lastCaption">;
  readonly modelSettings: () => Parameters<typeof seesImages>[0];
  /** True when a model describes pictures to those that cannot see. */
  readonly areDescribed: () => boolean;
}

const unseen = "a picture, which you cannot see: no model of this group can";

/** Pictures for models: as images, as captions of a vision model, or as notes. */
export class Pictures {
  readonly #options: PicturesOptions;

  constructor(options: PicturesOptions) {
    this.#options = options;
  }

  /** True when it is of use to this group's agent to look at pictures. */
  areOfUse(group: Group): boolean {
    return this.#canSee(group) || this.#options.areDescribed();
  }

  /** Keeps the images of messages that the group's models can be shown, or their captions. */
  async imagesOf(
    group: Group,
    messages: readonly StoredMessage[],
  ): Promise<ReadonlyMap<StoredAttachment, Part | string>> {
    if (!this.areOfUse(group)) return notes(messages.flatMap(({ attachments = [] }) => attachments));
    const kept = await keepMemberImages(this.#options, group.name, messages);
    if (this.#canSee(group)) return kept;
    const shown = new Map<StoredAttachment, Part | string>();
    for (const [attachment, picture] of kept) shown.set(attachment, await this.#shownTo(group, picture));
    return shown;
  }

  /** Keeps an image that a tool shows. */
  async keepImage(image: Omit<ShownImage, "group"> & { readonly group: Group }): Promise<Part | string> {
    return this.#shownTo(image.group, await keepImage(this.#options, { ...image, group: image.group.name }));
  }

  /** Finds captions that there are, up to this number. */
  find(sha256s: readonly string[], upTo: number): Promise<ReadonlyMap<string, string>> {
    return this.#options.captionRows.captionsOf(sha256s, upTo);
  }

  /** Makes missing captions if possible; failures are ignored. Returns the number of the newest. */
  async make(group: Group, pictures: readonly BlobPart[]): Promise<number> {
    const { areDescribed, captions, captionRows } = this.#options;
    if (areDescribed()) for (const picture of pictures) await captions.of(group, picture);
    return captionRows.lastCaption();
  }

  async #shownTo(group: Group, kept: BlobPart | string): Promise<Part | string> {
    return typeof kept === "string" || this.#canSee(group) ? kept : this.#options.captions.of(group, kept);
  }

  #canSee({ model }: Group): boolean {
    return seesImages(this.#options.modelSettings(), model);
  }
}

function notes(attached: readonly StoredAttachment[]): ReadonlyMap<StoredAttachment, string> {
  const pictures = attached.filter(({ file }) => file && originalTypes.has(file.mimeType));
  return new Map(pictures.map((attachment) => [attachment, unseen]));
}
