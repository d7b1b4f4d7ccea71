import { readableMedia } from "../../../../../abilities/media/offline.ts";
import { canBeAlone } from "../../../../../processes/launch.ts";
import { toError } from "../../../../../lib/app-error.ts";
import { type CheckResult, good, warning } from "../check.ts";

/** Has the media process say what it can read. */
export async function checkMedia(main?: string): Promise<CheckResult> {
  try {
    const { pictures, heic } = await readableMedia(main);
    if (!pictures)
      return warning(
        "media",
        "sharp is not installed: only small JPEG, PNG, GIF and WebP pictures are shown, with their metadata.",
        "npm ci, on a machine for which sharp has a build",
      );
    if (!heic) return warning("media", "heic-decode is not installed: HEIC pictures cannot be shown.", "npm ci");
    if (await canBeAlone())
      return good("media", "Pictures are decoded in a separate process without a network, including HEIC.");
    const detail = "Pictures are decoded in a separate process, which has the network of this machine.";
    return warning(
      "media",
      detail,
      "Let users make namespaces: see kernel.unprivileged_userns_clone, or docs/media.md",
    );
  } catch (error) {
    return warning("media", `Pictures cannot be shown: ${toError(error).message}.`, "see docs/media.md");
  }
}
