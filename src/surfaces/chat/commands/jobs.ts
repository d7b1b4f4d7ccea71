import type { Job } from "../../../domain/work/job.ts";
import { plainSentence } from "../../../lib/text/plain-words.ts";
import { shorten } from "../../../lib/text/visible.ts";
import { operationCommand } from "../operation-command.ts";

const shownChars = 80;

/** Says what runs in the background, and ends it for whoever asked for it, or an admin. */
export const jobs = operationCommand({
  name: "jobs",
  help: "background jobs; stop one with /jobs stop ID",
  takes: "[stop ID]",
  needs: "member",
  load: async () => (await import("../../../abilities/jobs/operations.ts")).jobOperations,
});

/** A line for each; empty where none runs. */
export function describeJobs(running: readonly Job[]): string {
  return running.map(({ id, command }) => `${id}: ${plainSentence(shorten(command, shownChars))}`).join("\n");
}
