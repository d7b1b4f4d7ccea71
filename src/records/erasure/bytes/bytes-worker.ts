import { filesWithBytes } from "./files-with-bytes.ts";
import type { BytesAnswer, BytesSearch } from "./search-bytes.ts";

/* The process that `searchBytes` starts: it is told what to look for, answers and ends. */

process.once("message", (message) => void answer(message as BytesSearch));

async function answer(search: BytesSearch): Promise<void> {
  const found: BytesAnswer = { files: await filesWithBytes(search) };
  process.send?.(found, () => process.disconnect());
}
