import { parseDocument } from "yaml";

import { AppError, toError } from "../../lib/app-error.ts";
import { yamlOptions } from "../loading/config-file.ts";

/** Parses a typed value: YAML, such as `always`, `2`, `[a, b]` or `{ tools: { shell: deny } }`. Throws `usage`. */
export function readValue(text: string): unknown {
  try {
    const document = parseDocument(text, yamlOptions);
    const [problem] = [...document.errors, ...document.warnings];
    if (problem) throw problem;
    return document.toJS({ maxAliasCount: 0 }) as unknown;
  } catch (cause) {
    const [why = ""] = toError(cause).message.split("\n", 1);
    throw new AppError("usage", `The value is not valid YAML: ${why.replace(/:$/, "")}.`, {
      cause,
      fix: `Put quotes around text with special characters: '"\${KEY}"'.`,
    });
  }
}
