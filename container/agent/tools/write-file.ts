import { constants } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";

import * as z from "zod";

import { openRegularFile, resolvePath } from "./paths.ts";
import { defineContainerTool } from "./tool.ts";

export const writeFile = defineContainerTool({
  name: "write_file",
  description: "Write a file, replacing what was there.",
  input: z.strictObject({
    path: z.string().min(1).describe("File to write; folders are made as needed."),
    content: z.string().describe("The whole new content."),
  }),
  risk: "medium",
  timeoutSeconds: 60,
  activity: { doing: "writing a file", shows: "path" },
  readsOnly: false,
  run: async (input, { paths }) => {
    const path = resolvePath(paths, input.path);
    await mkdir(dirname(path), { recursive: true });
    await using file = await openRegularFile(path, constants.O_WRONLY | constants.O_CREAT);
    await file.truncate();
    await file.writeFile(input.content);
    return `Wrote ${Buffer.byteLength(input.content)} bytes to ${path}.`;
  },
});
