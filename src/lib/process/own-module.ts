import { extname, join } from "node:path";

/**
 * Path of a module of ours that a process or a thread begins with. It lies beside the one that starts it, whose
 * `import.meta` this is, in the sources as among what set-up builds.
 */
export function ownModule(name: string, { dirname, filename }: ImportMeta): string {
  return join(dirname, `${name}${extname(filename)}`);
}
