import { createHash } from "node:crypto";
import { join } from "node:path";

import { HostileFolder } from "../lib/open-hostile-file.ts";
import type { AppContext } from "./context.ts";

const instructionsBytes = 256 * 1024;

/**
 * The AGENTS.md of groups. Their agents can write there, at the wish of whoever writes in the chat, and what they write
 * outlives `/new` and restarts: a change is put on record when it is first used, once.
 */
export class Instructions {
  readonly #context: Pick<AppContext, "home" | "store" | "publish" | "logger" | "clock">;
  /** What each group used last: as long as it is the same, nothing is computed or asked. */
  readonly #used = new Map<string, string>();

  constructor(context: Pick<AppContext, "home" | "store" | "publish" | "logger" | "clock">) {
    this.#context = context;
  }

  /** Those of the group; empty when it has none. `session`: who uses them. */
  async of(group: string, session: string): Promise<string> {
    const text = await this.#read(group);
    if (this.#used.get(group) === text) return text;
    await this.#compare({ group, session }, text);
    this.#used.set(group, text);
    return text;
  }

  async #compare(
    { group, session }: { readonly group: string; readonly session: string },
    text: string,
  ): Promise<void> {
    const { store, publish, clock } = this.#context;
    const sha256 = createHash("sha256").update(text).digest("hex");
    const bytes = Buffer.byteLength(text);
    const before = (await store.groups.folder(group))?.instructions;
    if (before?.sha256 === sha256) return;
    if (before) {
      const data = { file: "AGENTS.md", bytes, sha256, before: { bytes: before.bytes, sha256: before.sha256 } };
      await publish({ type: "instructions.changed", group, session, actor: "agent", data });
    }
    await store.groups.noteInstructions(group, { sha256, bytes, changedAt: before && clock.now() });
  }

  /** It is opened as what it is: a stranger's file. */
  async #read(group: string): Promise<string> {
    const { home, logger, publish } = this.#context;
    const folder = join(home.paths.groups, group);
    await using opened = await HostileFolder.open(folder);
    const reading = await opened.readFile("AGENTS.md", { maxBytes: instructionsBytes });
    if (reading.ok) return new TextDecoder().decode(reading.bytes);
    const { reason } = reading;
    if (reason === "missing") return "";
    logger.warn({ folder, reason }, "AGENTS.md is not used");
    await publish({ type: "file.refused", group, actor: "host", data: { file: "AGENTS.md", reason } });
    return "";
  }
}
