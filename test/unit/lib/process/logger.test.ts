import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { Writable } from "node:stream";

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { AppError } from "../../../../src/lib/app-error.ts";
import { createLogger } from "../../../../src/lib/process/logger.ts";
import { Redaction } from "../../../../src/lib/secrets/redaction.ts";
import type { LoggerOptions } from "../../../../src/lib/process/logger.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { anyCharacter } from "../../../support/any-character.ts";

class Memory extends Writable {
  text = "";

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

function openLog(options: Partial<LoggerOptions> = {}) {
  const output = new Memory();
  const logger = createLogger({ level: "debug", output, format: "json", redact: (text) => text, ...options });
  return { logger, output };
}

/** Any character, and often one that steers a terminal or hides. */
const text = fc.string({
  unit: fc.oneof(
    fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }),
    fc.constantFrom("\n", "\u0085", "\u202e", "\u{e0041}"),
  ),
});

test("each entry is one JSON object on one line, whatever a stranger put into it", () => {
  fc.assert(
    fc.property(text, text, (message, field) => {
      const { logger, output } = openLog();

      logger.info({ field }, `said: ${message}`);

      const lines = output.text.trimEnd().split("\n");
      expect(lines).toHaveLength(1);
      expect(JSON.parse(output.text)).toMatchObject({ level: "info", msg: `said: ${message.toWellFormed()}` });
      expect(lines.join()).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    }),
  );
});

test("on a terminal, a chat can neither steer the terminal nor forge a line", () => {
  const { logger, output } = openLog({ format: "pretty" });

  logger.warn({ name: "\u001b]0;owned\u0007" }, "from \u001b[2Jann\n[12:00:00] ERROR: forged \u202e");

  // What is left of escapes are the our own colours.
  for (const rest of output.text.split("\u001b").slice(1)) expect(rest).toMatch(/^\[\d+m/);
  expect(output.text).not.toMatch(/\p{Cf}/u);
  expect(output.text.trimEnd().split("\n")).toHaveLength(1);
  expect(output.text).toContain("forged");
});

test("keys and tokens never reach the log, under whatever name and however deep", () => {
  const { logger, output } = openLog({ redact: new Redaction(["s3cr3t-value", 'with"quote']).redact });

  logger.info({ headers: { Authorization: "Bearer abc" }, list: [{ apiKey: "k1", "x-api-key": "k2" }], tokens: 12 });
  logger.child({ url: "https://u:s3cr3t-value@host" }).error(new Error("failed with s3cr3t-value"));
  logger.info('it said with"quote');

  for (const secret of ["abc", "k1", "k2", "s3cr3t-value", "quote"]) expect(output.text).not.toContain(secret);
  expect(output.text).toContain('"tokens":12');
});

test("an error is logged with its code, fix and causes, but not with what a vendor hung on it", () => {
  const { logger, output } = openLog();
  const vendorError = Object.assign(new Error("401"), { request: { secretBody: "hidden" }, code: "ERR_AUTH" });

  logger.error({ err: new AppError("model_refused", "No.", { cause: vendorError, fix: "try again" }) }, "it failed");
  logger.error({ error: vendorError, reason: vendorError });

  expect(JSON.parse(output.text.split("\n")[0] ?? "")).toMatchObject({
    err: { code: "model_refused", fix: "try again", cause: { message: "401", code: "ERR_AUTH" } },
  });
  expect(output.text).not.toContain("hidden");
});

test("the log file is closed to others, and when it is full the one before it is kept", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "host.log");
  const { logger } = openLog({ file });
  const entry = "x".repeat(1024 * 1024);

  for (let count = 0; count < 12; count += 1) logger.info({ count }, entry);

  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(file)).size).toBeLessThanOrEqual(10 * 1024 * 1024);
  expect(JSON.parse((await readFile(`${file}.1`, "utf8")).split("\n")[0] ?? "")).toMatchObject({ count: 0 });
  expect(JSON.parse((await readFile(file, "utf8")).trimEnd().split("\n").at(-1) ?? "")).toMatchObject({ count: 11 });
});

test("a log that cannot be written stops nobody", async () => {
  await using folder = await temporaryFolder();
  const { logger, output } = openLog({ file: join(folder.path, "missing", "host.log") });

  logger.info("still here");

  expect(output.text).toContain("still here");
});
