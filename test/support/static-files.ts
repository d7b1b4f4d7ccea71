import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";

/** Serves the files of a folder, and `index.html` for its folders; what `special` gives goes first. */
export function staticFiles(
  folder: string,
  special: (request: IncomingMessage) => string | undefined,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const own = special(request);
    const path = new URL(request.url ?? "/", "https://test").pathname;
    const isFolder = path.endsWith("/");
    const send = async (): Promise<void> => {
      const bytes = own ?? (await readFile(join(folder, path, isFolder ? "index.html" : "")));
      const type = isFolder ? "text/html" : "application/octet-stream";
      response.writeHead(200, { "content-type": own === undefined ? type : "application/json" }).end(bytes);
    };
    send().catch(() => response.writeHead(404).end());
  };
}
