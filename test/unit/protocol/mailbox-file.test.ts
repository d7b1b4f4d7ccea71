import { readFile, readdir, stat } from "node:fs/promises";
import { join } from "node:path";

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { limits } from "../../../src/protocol/limits.ts";
import {
  decodeMessage,
  encodeMessage,
  messageFileId,
  refusalOfValue,
  temporaryFilePattern,
  writeMessageFile,
} from "../../../src/protocol/mailbox-file.ts";
import { agentMessage } from "../../../src/protocol/messages.ts";
import { protocolVersion } from "../../../src/protocol/version.ts";
import type { AgentMessage } from "../../../src/protocol/messages.ts";
import { messageFileName } from "../../../src/protocol/paths.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

function toolRequest(input: unknown): AgentMessage {
  const payload = { type: "tool-request", turn: "t", callId: "c", name: "send_message", input } as const;
  return { version: protocolVersion, id: 5, generation: 1, acked: 0, payload };
}

test("what one side encodes the other side reads", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6, noUnicodeString: false }), (input) => {
      const encoded = encodeMessage(toolRequest(input));

      if (!encoded.ok) return;
      const reading = decodeMessage(Buffer.from(encoded.text), agentMessage, 5);
      expect(reading).toEqual({ ok: true, message: JSON.parse(encoded.text) as unknown });
    }),
  );
});

test("no bytes at all make the reader throw", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array(),
        fc.json().map((text) => Buffer.from(text)),
      ),
      (bytes) => {
        expect(decodeMessage(bytes, agentMessage, 1).ok).toBe(false);
      },
    ),
  );
});

test("what the reader would refuse is not encoded, with the reason", () => {
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;

  expect(refusalOfValue({ a: 1 })).toBeUndefined();
  expect(refusalOfValue(cycle)).toBe("cannot be written as JSON");
  expect(refusalOfValue(undefined)).toBe("cannot be written as JSON");
  expect(refusalOfValue(JSON.parse('{"constructor":1}'))).toBe("is refused: the key constructor");
  expect(encodeMessage(toolRequest("x".repeat(limits.messageBytes)))).toMatchObject({
    ok: false,
    tooLarge: true,
    reason: expect.stringMatching(/^the tool-request message has \d+ bytes; the cap is 1048576$/) as string,
  });
});

test("a written message is whole, readable for the other side's uid, and leaves nothing else behind", async () => {
  await using folder = await temporaryFolder();

  writeMessageFile(folder.path, 42, '{"a":1}');

  expect(await readdir(folder.path)).toEqual(["000000000042.json"]);
  expect(await readFile(join(folder.path, "000000000042.json"), "utf8")).toBe('{"a":1}');
  expect((await stat(join(folder.path, "000000000042.json"))).mode & 0o777).toBe(0o644);
});

test("a name says its id, and the name of a half-written file is not the name of a message", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999_999_999_999 }), (id) => {
      const name = messageFileName(id);

      expect(messageFileId(name)).toBe(id);
      expect(messageFileId(`.${name}.part`)).toBeUndefined();
      expect(temporaryFilePattern.test(`.${name}.part`)).toBe(true);
    }),
  );
});
