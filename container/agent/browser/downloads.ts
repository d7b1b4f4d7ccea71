import { createReadStream } from "node:fs";
import { mkdir, open, readdir, stat } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { basename, extname, join } from "node:path";

import type { Download } from "./playwright.ts";

/** Maximum bytes of a file. */
export const maxDownloadBytes = 50 * 1024 * 1024;
const timeoutMs = 60_000;
const lookMs = 200;

/** Lets a download come in and moves it to the group's files, as an ordinary file. Throws with words for the model. */
export async function keepDownload(download: Download, incoming: string, target: string): Promise<string> {
  try {
    const path = await finished(download, incoming);
    const { size } = await stat(path);
    if (size > maxDownloadBytes) throw tooLarge();
    await mkdir(target, { recursive: true });
    const name = safeName(download.suggestedFilename());
    const { file, path: kept } = await create(target, name);
    await file.writeFile(createReadStream(path));
    await file.close();
    return `Downloaded ${size} bytes to ${kept}.`;
  } finally {
    await download.delete().catch(() => undefined);
  }
}

/** Waits for a download, watching the file's size: nothing else reports progress. */
async function finished(download: Download, incoming: string): Promise<string> {
  const { promise: given, reject: giveUp } = Promise.withResolvers<never>();
  const began = performance.now();
  const check = async (): Promise<void> => {
    if ((await bytesIn(incoming)) > maxDownloadBytes) giveUp(tooLarge());
    else if (performance.now() - began > timeoutMs) giveUp(new Error("The download took longer than 60 s."));
  };
  const look = setInterval(() => void check(), lookMs);
  try {
    return await Promise.race([download.path(), given]);
  } catch (error) {
    await download.cancel().catch(() => undefined);
    throw error;
  } finally {
    clearInterval(look);
  }
}

async function bytesIn(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const sizes = names.map((name) =>
    stat(join(folder, name)).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return Math.max(0, ...(await Promise.all(sizes)));
}

function tooLarge(): Error {
  return new Error(`The file has more than ${maxDownloadBytes} bytes, and was not kept.`);
}

/** The name that the page suggests, as one of a plain file. */
function safeName(suggested: string): string {
  const name = basename(suggested.toWellFormed().replaceAll(/[\p{C}/\\]/gu, "_")).replace(/^[.-]+/, "");
  const ending = extname(name).slice(0, 16);
  return `${name.slice(0, name.length - extname(name).length).slice(0, 100)}${ending}` || "download";
}

/** Creates a new file: `report.pdf`, `report (2).pdf` … */
async function create(folder: string, name: string): Promise<{ file: FileHandle; path: string }> {
  const ending = extname(name);
  for (let number = 1; number <= 100; number += 1) {
    const path = join(
      folder,
      number === 1 ? name : `${name.slice(0, name.length - ending.length)} (${number})${ending}`,
    );
    try {
      return { file: await open(path, "wx", 0o644), path };
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
  }
  throw new Error(`There are 100 files with the name ${name} in ${folder} already.`);
}
