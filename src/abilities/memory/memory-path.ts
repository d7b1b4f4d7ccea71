import { join } from "node:path";

const ending = ".sqlite";

/** Where a memory lies, by the name of a group, of an agent's folder, or of notes for all. */
export function memoryPath(folder: string, name: string): string {
  return join(folder, `${name}${ending}`);
}

/** Whose memory the file of this name is; undefined: it is none. */
export function memoryOfFile(file: string): string | undefined {
  return file.endsWith(ending) ? file.slice(0, -ending.length) : undefined;
}
