import type { FileHandle } from "node:fs/promises";
import { constants, open } from "node:fs/promises";

import { parseDocument } from "yaml";

import { AppError, toError } from "../../lib/app-error.ts";
import type { ConfigFault } from "../faults.ts";
import { writeFault } from "../trust.ts";

/** More than any configuration needs, less than a parser can be hurt with. */
const maxBytes = 1024 * 1024;
const maxAliases = 64;

/** Reads a file that only we could have written; undefined when missing. Throws `config_invalid`. */
export async function readTrustedFile(file: string): Promise<string | undefined> {
  const handle = await openWithoutFollowing(file);
  try {
    return handle === undefined ? undefined : await readTrusted(file, handle);
  } finally {
    await handle?.close();
  }
}

async function openWithoutFollowing(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code === "ENOENT") return undefined;
    if (code !== "ELOOP") throw new AppError("config_invalid", `It cannot be read (${String(code)}).`, { cause });
    throw new AppError("config_invalid", "It is a symbolic link, which could lead anywhere.", {
      cause,
      fix: `Put the file itself there: cp --remove-destination "$(readlink -f ${file})" ${file}`,
    });
  }
}

async function readTrusted(file: string, handle: FileHandle): Promise<string> {
  const found = await handle.stat();
  if (!found.isFile()) throw new AppError("config_invalid", "It is not a file.");
  const fault = writeFault(file, found);
  if (fault !== undefined) throw new AppError("config_invalid", fault.detail, { fix: fault.fix });
  if (found.size > maxBytes) throw new AppError("config_invalid", `It is larger than ${maxBytes} bytes.`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await handle.readFile());
  } catch (cause) {
    throw new AppError("config_invalid", "It is not UTF-8 text.", { cause });
  }
}

/** Options for parsing config.yaml. */
export const yamlOptions = { uniqueKeys: true, merge: false, version: "1.2", stringKeys: true } as const;

interface ParsedYaml {
  readonly value: unknown;
  readonly faults: readonly ConfigFault[];
}

/**
 * YAML 1.2 with text keys: duplicate keys, unknown tags, several documents and alias bombs are faults. An empty text is
 * `{}`.
 */
export function parseYaml(text: string): ParsedYaml {
  const document = parseDocument(text, yamlOptions);
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem !== undefined) return failed(problem.message.split("\n", 1).join("").replace(/:$/, ""));
  try {
    const value: unknown = document.toJS({ maxAliasCount: maxAliases }) ?? {};
    return { value, faults: [] };
  } catch (error) {
    return failed(toError(error).message);
  }
}

function failed(detail: string): ParsedYaml {
  return { value: {}, faults: [{ path: "", detail: `this is not valid YAML: ${detail}` }] };
}
