import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";

import { describeOperationList, replaceOperationList } from "./steps/operation-list.ts";

/** Writes the list of all operations in docs/operations.md anew, from their definitions. Format it with `npx oxfmt`. */
const page = resolve(import.meta.dirname, "..", "docs", "operations.md");
await writeFile(page, replaceOperationList(await readFile(page, "utf8"), await describeOperationList()));
