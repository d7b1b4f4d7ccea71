import { constants } from "node:fs";
import { access, realpath } from "node:fs/promises";
import { delimiter, join } from "node:path";

import { shellQuoted } from "../../src/lib/files/paths.ts";

/**
 * The command that puts `crabpot` on the PATH, in a folder that is there and may be written to; undefined when no
 * folder is, or when something of that name is there.
 */
export async function linkCommand(
  checkoutFolder: string,
  { env, homeFolder }: { readonly env: Readonly<Record<string, string | undefined>>; readonly homeFolder: string },
): Promise<string | undefined> {
  const folders = (env["PATH"] ?? "").split(delimiter);
  for (const folder of folders) {
    if (folder !== "" && (await realpath(join(folder, "crabpot")).catch(() => undefined)) !== undefined)
      return undefined;
  }
  for (const folder of [join(homeFolder, ".local/bin"), "/usr/local/bin"]) {
    const mayWrite = await access(folder, constants.W_OK).then(
      () => true,
      () => false,
    );
    if (!mayWrite || !folders.includes(folder)) continue;
    return `ln -s ${shellQuoted(join(checkoutFolder, "scripts/crabpot"))} ${shellQuoted(join(folder, "crabpot"))}`;
  }
  return undefined;
}
