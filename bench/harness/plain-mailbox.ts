import { watch } from "node:fs";
import { open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";

/**
 * The least that a message between two processes over files can be: write, rename, be woken by the file watcher, list,
 * read, remove. No schema, no check, no order.
 */
export function listenPlainly(folder: string, onMessage: (text: string) => void): Disposable {
  let looking = false;
  let again = false;
  const look = async (): Promise<void> => {
    again = true;
    if (looking) return;
    looking = true;
    while (again) {
      again = false;
      for (const name of await readdir(folder)) {
        if (name.startsWith(".")) continue;
        const text = await readFile(join(folder, name), "utf8");
        await rm(join(folder, name));
        onMessage(text);
      }
    }
    looking = false;
  };
  const watcher = watch(folder, (_kind, name) => {
    if (name?.startsWith(".") !== true) void look();
  });
  return { [Symbol.dispose]: () => watcher.close() };
}

export async function sendPlainly(folder: string, id: number, text: string): Promise<void> {
  const temporary = join(folder, `.${id}.part`);
  {
    await using file = await open(temporary, "wx", 0o644);
    await file.writeFile(text);
  }
  await rename(temporary, join(folder, `${id}.json`));
}
