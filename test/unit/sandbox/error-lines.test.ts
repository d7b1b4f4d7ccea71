import { PassThrough } from "node:stream";

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { logErrorLines } from "../../../src/sandbox/servers/error-lines.ts";

async function lastOf(written: string): Promise<string | undefined> {
  const stream = new PassThrough();
  const lines = logErrorLines(stream, { info: () => undefined });
  stream.end(written);
  await lines.closed;
  return lines.last();
}

test("why a program ended is its error, not what Node or Python write around it", async () => {
  const node =
    "/opt/mcp/bindings.js:126\n  err = new Error(\n  ^\n\nError: Could not locate the bindings file. Tried:\n    at bindings (/opt/mcp/bindings.js:126:9) {\n  tries: [\n    '/opt/a.node'\n  ]\n}\n\nNode.js v24.21.0\n";
  const python =
    'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    import x\nModuleNotFoundError: No module named: x\n';

  expect(await lastOf(node)).toBe("Error: Could not locate the bindings file. Tried:");
  expect(await lastOf(python)).toBe("ModuleNotFoundError: No module named: x");
  expect(await lastOf("starting\nno settings file")).toBe("no settings file");
  expect(await lastOf(`Error: once\n${"fine\n".repeat(60)}out of disk\n`)).toBe("out of disk");
});

test("whatever is written, something of it is told, on one line and not for long", async () => {
  const line = fc.oneof(fc.string(), fc.constantFrom("Error: x", "    at y", "}", "Node.js v1"));
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 80 }), async (all) => {
      const written = all.join("\n");
      const last = await lastOf(written);
      expect(last === undefined).toBe(written.trim() === "");
      expect(last ?? "").not.toMatch(/\p{Cc}/u);
    }),
  );
});
