import { browser } from "./browser.ts";
import { editFile } from "./edit-file.ts";
import { jobs } from "./jobs.ts";
import { listFiles } from "./list-files.ts";
import { readFile } from "./read-file.ts";
import { searchFiles } from "./search-files.ts";
import { shell } from "./shell.ts";
import type { ContainerTool } from "./tool.ts";
import { viewImage } from "./view-image.ts";
import { writeFile } from "./write-file.ts";

/** Every tool that runs in the container. The host offers what stands here, the agent runs it. */
export const containerTools: readonly ContainerTool[] = [
  browser,
  editFile,
  jobs,
  listFiles,
  readFile,
  searchFiles,
  shell,
  viewImage,
  writeFile,
];
