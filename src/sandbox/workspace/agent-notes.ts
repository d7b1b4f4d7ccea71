import { lstatSync } from "node:fs";
import { join } from "node:path";

import { type AgentNotes, memoryFile, notesFolder } from "../../domain/chats/agent-notes.ts";
import { HostileFolder } from "../../lib/files/open-hostile-file.ts";

/** More than any model is shown of it, in whatever script it is written. */
const maxBytes = 32 * 1024;
const maxNames = 100;

/**
 * Reads the agent's notes in its group's folder; undefined when there are none. Reads only regular files with one name,
 * follows no links, and never blocks.
 */
export async function readAgentNotes(groupFolder: string): Promise<AgentNotes | undefined> {
  if (!exists(groupFolder, memoryFile) && !exists(groupFolder, notesFolder)) return undefined;
  await using folder = await HostileFolder.open(groupFolder);
  const reading = await folder.readFile(memoryFile, { maxBytes, cut: true });
  const memory = reading.ok ? new TextDecoder().decode(reading.bytes) : "";
  const refused = reading.ok || reading.reason === "missing" ? undefined : reading.reason;
  const notes = { memory, refused, ...(await namesOf(folder)) };
  return memory.trim() === "" && refused === undefined && notes.names.length === 0 ? undefined : notes;
}

async function namesOf(folder: HostileFolder): Promise<Pick<AgentNotes, "names" | "hasMore">> {
  await using notes = await folder.openFolder(notesFolder);
  if (!notes) return { names: [], hasMore: false };
  const { names, complete } = await notes.list(maxNames);
  return { names: names.map((name) => name.toString("utf8")).toSorted(), hasMore: !complete };
}

function exists(folder: string, name: string): boolean {
  return lstatSync(join(folder, name), { throwIfNoEntry: false }) !== undefined;
}
