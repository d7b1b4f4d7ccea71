import { heartbeatFile } from "../../domain/work/heartbeat.ts";
import { AppError } from "../../lib/app-error.ts";
import { HostileFolder, type HostileReading } from "../../lib/files/open-hostile-file.ts";

/** Maximum bytes read from the file. */
const fileBytes = 64 * 1024;

/** Reads the heartbeat file in the folder of a group, as its agent may have left it. */
export async function readHeartbeatFile(folder: string): Promise<HostileReading> {
  try {
    await using opened = await HostileFolder.open(folder);
    return await opened.readFile(heartbeatFile, { maxBytes: fileBytes, cut: true });
  } catch (error) {
    if (error instanceof AppError && error.code === "not_found") return { ok: false, reason: "missing" };
    throw error;
  }
}
