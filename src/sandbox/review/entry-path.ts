import type { OpenedFolder } from "./opened-folder.ts";

/** The names that a key is made of. */
export function namesOf(key: string): Buffer[] {
  return key.split("/").map((name) => Buffer.from(name, "latin1"));
}

/** A path below an open folder, with the folders on the way to it open. */
export interface EntryPath extends Disposable {
  /** The folder that holds the entry; undefined when one on the way is missing or a link. */
  readonly parent: OpenedFolder | undefined;
  /** In the parent. */
  readonly name: Buffer;
}

/** Opens the folders on the way to an entry one after another, no link followed. */
export function openPathTo(root: OpenedFolder, key: string): EntryPath {
  using stack = new DisposableStack();
  const folders = namesOf(key);
  const name = folders.pop() ?? Buffer.alloc(0);
  let parent: OpenedFolder | undefined = root;
  for (const folder of folders) {
    const next: OpenedFolder | undefined = parent?.folder(folder);
    parent = next && stack.use(next);
  }
  const opened = stack.move();
  return { parent, name, [Symbol.dispose]: () => opened.dispose() };
}
