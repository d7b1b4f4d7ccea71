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
    const file = join(folder, path, path.endsWith("/") ? "index.html" : "");
    const content = own === undefined ? readFile(file) : Promise.resolve(Buffer.from(own));
    content.then(
      (bytes) => {
        const type =
          own !== undefined ? "application/json" : path.endsWith("/") ? "text/html" : "application/octet-stream";
        response.writeHead(200, { "content-type": type }).end(bytes);
      },
      () => response.writeHead(404).end(),
    );
  };
}
