import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { toError } from "../../../../../lib/app-error.ts";
import { Media } from "../../../../../abilities/media/media.ts";
import { type CheckResult, good, warning } from "../check.ts";

/** Has the media process say what it can read, in a folder that is removed afterwards. */
export async function checkMedia(main?: string): Promise<CheckResult> {
  const folder = await mkdtemp(join(tmpdir(), "crabpot-media-"));
  try {
    await using media = new Media({ folder: join(folder, "media"), main });
    await using work = await media.open();
    await writeFile(work.input, "");
    const { pictures, heic } = await work.run("abilities", {});
    if (!pictures)
      return warning(
        "media",
        "sharp is not installed: only small JPEG, PNG, GIF and WebP pictures are shown, with their metadata.",
        "npm ci, on a machine for which sharp has a build",
      );
    if (!heic) return warning("media", "heic-decode is not installed: HEIC pictures cannot be shown.", "npm ci");
    return good("media", "Pictures are decoded in a separate process, including HEIC.");
  } catch (error) {
    return warning("media", `Pictures cannot be shown: ${toError(error).message}.`, "see docs/media.md");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
