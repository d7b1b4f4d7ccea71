import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { installModel, type InstallOptions } from "../../../models/local/install-model.ts";
import { Media } from "../media.ts";
import { speechPackages } from "./speech-model.ts";

/** Below the checkout: an English sentence that a program speaks, in Ogg Opus. */
const sample = "assets/hello.opus";
const mostSeconds = 10;

/** Installs the local model that hears voice messages. `checkout`: where crabpot's own files are. */
export function installSpeechModel(
  options: Omit<InstallOptions, "packages" | "tryOut"> & { readonly checkout: string },
): Promise<{ readonly bytes: number }> {
  const tryOut = async (model: string): Promise<void> => void (await hearSample(model, options.checkout));
  return installModel({ ...options, packages: speechPackages, tryOut });
}

/** Transcribes our sample with the model in this folder, in the real process. Rejects when it does not work. */
export async function hearSample(model: string, checkout: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "crabpot-speech-"));
  try {
    await using media = new Media({ folder, models: [model] });
    await using work = await media.open();
    await copyFile(join(checkout, sample), work.input);
    return (await work.run("transcribe", { model, mostSeconds })).text;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
