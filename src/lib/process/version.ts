import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** The version in the checkout's package.json. */
export async function readVersion(checkout: string): Promise<string> {
  const text = await readFile(join(checkout, "package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
