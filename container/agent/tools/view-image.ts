import { constants } from "node:fs";
import { basename } from "node:path";

import * as z from "zod";

import { limits } from "../../../src/protocol/limits.ts";
import { ToolError } from "../../../src/protocol/tools.ts";
import { openRegularFile, resolvePath } from "./paths.ts";
import { pictureType } from "./picture-type.ts";
import { defineContainerTool } from "./tool.ts";

/** Passes an image on unread: the host turns it upright and scales it, in a separate process. */
export const viewImage = defineContainerTool({
  name: "view_image",
  description: "Look at an image file: JPEG, PNG, GIF, WebP, TIFF, HEIC or AVIF, at most 16 MB.",
  input: z.strictObject({ path: z.string().min(1).max(4_096).describe("Image to look at.") }),
  risk: "low",
  timeoutSeconds: 60,
  activity: { doing: "looking at a picture", shows: "path" },
  readsOnly: true,
  needsVision: true,
  run: async (input, { paths, files }) => {
    const path = resolvePath(paths, input.path);
    const content = await readImage(path);
    const mimeType = pictureType(content);
    if (mimeType === undefined)
      throw new ToolError(
        `${path} is no JPEG, PNG, GIF, WebP, TIFF, HEIC or AVIF image by its content. Convert it to PNG first.`,
      );
    const output = `${path} (${mimeType}, ${content.length} bytes):`;
    const name = basename(path).toWellFormed().slice(0, 256);
    return { output, isError: false, parts: [{ kind: "image", file: files.add(content), name }] };
  },
});

async function readImage(path: string): Promise<Buffer> {
  await using file = await openRegularFile(path, constants.O_RDONLY);
  const { size } = await file.stat();
  if (size > limits.imageBytes)
    throw new ToolError(
      `${path} has ${size} bytes, and at most ${limits.imageBytes} can be shown. Make it smaller first.`,
    );
  const content = Buffer.alloc(size);
  const { bytesRead } = await file.read(content, 0, size, 0);
  return content.subarray(0, bytesRead);
}
