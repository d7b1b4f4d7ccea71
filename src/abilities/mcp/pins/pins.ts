import * as z from "zod";

import { AppError } from "../../../lib/app-error.ts";
import { sleep } from "../../../lib/time/sleep.ts";
import { changeMcpLock, type McpLock, readMcpLock } from "../packages/lock-file.ts";
import type { ListedTool, RefusedTool } from "../tools/listed-tool.ts";

/** Maximum characters of a tool's description shown to people. */
const keptChars = 8_000;
/** Names that one server may have had over the years. */
const mostPinned = 2_000;
const busyTries = 25;
const busyMs = 200;

const said = z.strictObject({ sha256: z.string().regex(/^[0-9a-f]{64}$/), text: z.string().max(keptChars) });

const pins = z.record(z.string().max(128), said.extend({ changed: said.optional() }));

/** A tool's description of itself, and its hash. */
type Said = z.output<typeof said>;
type PinsOfServer = z.output<typeof pins>;

/** A tool that says something else than when it was first seen. */
export interface ChangedTool {
  readonly name: string;
  readonly fullName: string;
  readonly before: Said;
  readonly now: Said;
  /** More was said, before or now, than is kept. */
  readonly isCut: boolean;
}

export interface PinnedTools {
  /** Those that say what they have always said, or were never seen before. */
  readonly tools: readonly ListedTool[];
  readonly changed: readonly ChangedTool[];
  readonly refused: readonly RefusedTool[];
}

/**
 * Tools' descriptions at first sight, in `mcp.lock`: detects a server that turns harmful later. A changed tool is
 * unavailable until somebody allows it.
 */
export class Pins {
  readonly #file: string;

  /** `file`: the home's `mcp.lock`. */
  constructor(file: string) {
    this.#file = file;
  }

  /** Pins new tools durably, before anyone learns of them. */
  async judge(server: string, listed: readonly ListedTool[]): Promise<PinnedTools> {
    const known = pinsOf(await readMcpLock(this.#file), server);
    const judged = judge(known, listed);
    if (judged.isNew) await this.#change(server, (before) => judge(before, listed).pins);
    return judged;
  }

  /** Takes over what a tool says now, if that is still what people were shown. False: it is not. */
  async allow(server: string, tool: string, sha256: string): Promise<boolean> {
    let isAllowed = false;
    await this.#change(server, (before) => {
      const pin = Object.hasOwn(before, tool) ? before[tool] : undefined;
      isAllowed = pin?.sha256 === sha256 || pin?.changed?.sha256 === sha256;
      return pin?.changed && pin.changed.sha256 === sha256 ? { ...before, [tool]: pin.changed } : before;
    });
    return isAllowed;
  }

  async #change(server: string, change: (before: PinsOfServer) => PinsOfServer): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await changeMcpLock(this.#file, async (lock) => {
          const entry = Object.hasOwn(lock.servers, server) ? lock.servers[server] : undefined;
          const tools = change(pinsOf(lock, server));
          return { ...lock, servers: { ...lock.servers, [server]: { ...entry, tools } } };
        });
      } catch (error) {
        const isBusy = error instanceof AppError && error.code === "conflict";
        if (!isBusy || tries === busyTries) throw error;
        await sleep(busyMs, new AbortController().signal);
      }
    }
  }
}

/** Returns a tool's changed description that nobody has allowed yet; undefined: none. */
export async function pendingChange(
  lock: string,
  server: string,
  tool: string,
): Promise<{ readonly sha256: string; readonly text: string } | undefined> {
  const known = pinsOf(await readMcpLock(lock), server);
  return Object.hasOwn(known, tool) ? known[tool]?.changed : undefined;
}

/** Pins in `mcp.lock`. An unreadable file counts as changed: throws `config_invalid`. */
export function pinsOf(lock: McpLock, server: string): PinsOfServer {
  const entry = Object.hasOwn(lock.servers, server) ? lock.servers[server] : undefined;
  const parsed = pins.safeParse(entry?.["tools"] ?? {});
  if (parsed.success) return parsed.data;
  throw new AppError("config_invalid", `mcp.lock says of the tools of ${server} what cannot be read.`, {
    fix: "Remove that part: the tools are then looked at anew.",
  });
}

function judge(
  known: PinsOfServer,
  listed: readonly ListedTool[],
): PinnedTools & { readonly isNew: boolean; readonly pins: PinsOfServer } {
  const all = new Map(Object.entries(known));
  const tools: ListedTool[] = [];
  const changed: ChangedTool[] = [];
  const refused: RefusedTool[] = [];
  let isNew = false;
  for (const tool of listed) {
    const { name, fullName, sha256 } = tool;
    const now = { sha256, text: tool.text.slice(0, keptChars).toWellFormed() };
    const pin = all.get(name);
    if (pin?.sha256 === sha256) {
      tools.push(tool);
      // It has taken back what it said meanwhile: that is not to be allowed anymore.
      isNew ||= pin.changed !== undefined;
      all.set(name, { sha256, text: pin.text });
    } else if (pin) {
      const isCut = tool.text.length > keptChars || pin.text.length >= keptChars;
      changed.push({ name, fullName, before: { sha256: pin.sha256, text: pin.text }, now, isCut });
      isNew ||= pin.changed?.sha256 !== sha256;
      all.set(name, { sha256: pin.sha256, text: pin.text, changed: now });
    } else if (all.size >= mostPinned) refused.push({ name, reason: `its server has had ${mostPinned} tools before` });
    else {
      isNew = true;
      tools.push(tool);
      all.set(name, now);
    }
  }
  return { tools, changed, refused, isNew, pins: Object.fromEntries(all) };
}
