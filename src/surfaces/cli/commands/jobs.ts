import type { Command } from "commander";

import { shorten } from "../../../lib/text/visible.ts";
import type { CommandContext } from "../context.ts";
import { addLeaf } from "../context.ts";
import { formatTime } from "../formats.ts";
import { listJobs, stopJob } from "../../../operations/jobs/operations.ts";
import { parseCount } from "../parse-count.ts";

const shownChars = 60;

export function addJobsCommand(program: Command, context: CommandContext): void {
  const jobs = program.command("jobs").description("list and stop background jobs of agents");
  addLeaf(jobs, "list", "background jobs that run, newest first")
    .option("--group <name>", "only of this group")
    .option("--all", "those that are over as well")
    .option("--limit <count>", "how many", parseCount, 20)
    .action(async ({ group, all, limit }: { group?: string; all?: boolean; limit: number }, command: Command) => {
      context.outputOf(command).items(
        await context.read(listJobs, { group, all, limit }),
        [
          { title: "id", of: ({ id }) => id },
          { title: "group", of: ({ group: name }) => name },
          { title: "session", of: ({ session }) => session },
          { title: "state", of: ({ state }) => state },
          { title: "exit code", of: ({ exitCode }) => exitCode?.toString() },
          { title: "started (UTC)", of: ({ startedAt }) => formatTime(startedAt) },
          { title: "ended (UTC)", of: ({ endedAt }) => (endedAt === null ? undefined : formatTime(endedAt)) },
          { title: "command", of: ({ command: text }) => shorten(text, shownChars) },
        ],
        all === true ? "There are no background jobs." : "No background jobs are running.",
      );
    });

  addLeaf(jobs, "stop <id>", "end a background job; its agent is told")
    .option("--session <id>", "where jobs of several sessions have this id")
    .action(async (id: string, { session }: { session?: string }, command: Command) => {
      const ended = await context.call(stopJob, { id, session });
      const output = context.outputOf(command);
      if (output.json) output.object(ended);
      output.line(`Job ${ended.id} of group ${ended.group} has ended: ${ended.state}.`);
    });
}
