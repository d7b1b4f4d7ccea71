import { join } from "node:path";

import { AppendOnlyFile } from "./append-only-file.ts";
import { dayFile } from "../log-files.ts";

/**
 * The log's files, one for each UTC day. A clock that is set back never leads to an older file: names keep the order.
 */
export class DayFiles implements AsyncDisposable {
  readonly #folder: string;
  #day: string;
  #open: { readonly name: string; readonly file: AppendOnlyFile } | undefined;

  /** `day` is that of the newest file there is, or empty. */
  constructor(folder: string, day: string) {
    this.#folder = folder;
    this.#day = day;
  }

  /** Gives the name of the file that has the bytes now, on disk; when it rejects, no file has any of them. */
  async append(day: string, bytes: Uint8Array): Promise<string> {
    if (day > this.#day) this.#day = day;
    const name = dayFile(this.#day);
    if (this.#open?.name !== name) {
      await this[Symbol.asyncDispose]();
      this.#open = { name, file: await AppendOnlyFile.open(join(this.#folder, name)) };
    }
    await this.#open.file.append(bytes);
    return name;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.file[Symbol.asyncDispose]();
  }
}
