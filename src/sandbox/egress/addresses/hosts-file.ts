import { readFile, stat } from "node:fs/promises";
import { isIP } from "node:net";

/** A file that others change, read anew when it has. What cannot be read is empty. */
export class ChangingFile {
  readonly #path: string;
  #version = "";
  #text = "";

  constructor(path: string) {
    this.#path = path;
  }

  async read(): Promise<string> {
    const found = await stat(this.#path, { bigint: true }).catch(() => undefined);
    const version = found ? `${found.dev} ${found.ino} ${found.size} ${found.mtimeNs}` : "";
    if (version === this.#version) return this.#text;
    this.#text = version === "" ? "" : await readFile(this.#path, "utf8").catch(() => "");
    this.#version = version;
    return this.#text;
  }
}

/** The addresses that the text of an `/etc/hosts` gives a name, in its order. `host`: in lower case. */
export function addressesInHosts(text: string, host: string): string[] {
  return text.split("\n").flatMap((line) => {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    return isIP(address) !== 0 && names.some((name) => name.toLowerCase() === host) ? [address] : [];
  });
}
