import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { installModel, type InstallOptions } from "../../models/local/install-model.ts";
import { Media, type MediaWork } from "./media.ts";
import type { MediaResult } from "./media-error.ts";
import { isSpeechModelInstalled, speechFolder, speechModelName, speechPackages } from "./speech/speech-model.ts";

/** Below the checkout: an English sentence that a program speaks, in Ogg Opus. */
const sample = "assets/hello.opus";
const mostSeconds = 10;

/** The local model of a home that transcribes voice messages. */
export class LocalSpeechModel {
  readonly name = speechModelName;
  readonly folder: string;
  readonly #checkout: string;

  /** `checkout`: folder of crabpot's own files. */
  constructor(home: string, checkout: string) {
    this.folder = speechFolder(home);
    this.#checkout = checkout;
  }

  get isInstalled(): boolean {
    return isSpeechModelInstalled(this.folder);
  }

  /** Installs it, after it has transcribed our sample. */
  install(options: Pick<InstallOptions, "from" | "variables">): Promise<{ readonly bytes: number }> {
    const tryOut = async (folder: string): Promise<void> => void (await this.#hear(folder));
    return installModel({ ...options, folder: this.folder, packages: speechPackages, tryOut });
  }

  /** Transcribes our sample, in the real process. Rejects when that does not work. */
  hearSample(): Promise<string> {
    return this.#hear(this.folder);
  }

  #hear(model: string): Promise<string> {
    return withReader({ models: [model] }, async (work) => {
      await copyFile(join(this.#checkout, sample), work.input);
      return (await work.run("transcribe", { model, mostSeconds })).text;
    });
  }
}

/** Asks the process that reads strangers' files which it can read. `main`: the module that it runs. */
export function readableMedia(main?: string): Promise<MediaResult<"abilities">> {
  return withReader({ main }, async (work) => {
    await writeFile(work.input, "");
    return work.run("abilities", {});
  });
}

/** Works with the process in a folder that is removed afterwards. */
async function withReader<Result>(
  options: { readonly main?: string | undefined; readonly models?: readonly string[] },
  use: (work: MediaWork) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), "crabpot-media-"));
  try {
    await using media = new Media({ folder: join(folder, "media"), ...options });
    await using work = await media.open();
    return await use(work);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
