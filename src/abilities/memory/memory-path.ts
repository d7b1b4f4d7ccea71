import { join } from "node:path";

const ending = ".sqlite";

/** Path of a memory, by the name of a group, an agent's folder, or global notes. */
export function memoryPath(folder: string, name: string): string {
  return join(folder, `${name}${ending}`);
}

/** Name of the memory in this file; undefined when it is none. */
export function memoryOfFile(file: string): string | undefined {
  return file.endsWith(ending) ? file.slice(0, -ending.length) : undefined;
}
