import type { Job } from "../../domain/work/job.ts";
import { isAtLeast } from "../../domain/people/role.ts";
import { plainSentence } from "../../lib/text/plain-words.ts";
import { shorten } from "../../lib/text/visible.ts";
import type { ChatCommand, CommandOutcome, CommandServices, GivenCommand } from "./command.ts";

const shownChars = 80;

/** Says what runs in the background, and ends it for whoever asked for it, or an admin. */
export const jobs: ChatCommand = {
  name: "jobs",
  help: "says what I have running in the background; /jobs stop ID ends it",
  takes: "[stop ID]",
  needs: "member",
  run: async (given, services) => {
    const { group, pending } = given;
    const [action, id, ...more] = (pending.argument ?? "").split(/\s+/).filter((word) => word !== "");
    const running = services.jobsOf(group);
    if (action === undefined) return { text: describeJobs(running) || "Nothing runs in the background." };
    if (action !== "stop" || id === undefined || more.length > 0) return { text: "Write /jobs, or /jobs stop ID." };
    const job = running.find((one) => one.id === id);
    if (!job) return { text: `No background job ${plainSentence(id)} is running. /jobs lists those that do.` };
    return stopJob(given, services, job);
  },
};

async function stopJob(
  { pending: { message }, asker }: GivenCommand,
  services: CommandServices,
  job: Job,
): Promise<CommandOutcome> {
  const own = new Set(services.roles.keysOf({ channel: message.channel, id: message.sender.id }));
  const askers = isAtLeast(asker.role, "admin") ? [] : await services.askersOf(job.turn);
  if (!isAtLeast(asker.role, "admin") && !askers.some((key) => own.has(key)))
    return { text: `${job.id} can be stopped by whoever asked for it, or an admin.` };
  await services.stopJob(job);
  return { text: `${job.id} was stopped.` };
}

/** A line for each; empty where none runs. */
export function describeJobs(running: readonly Job[]): string {
  return running.map(({ id, command }) => `${id}: ${plainSentence(shorten(command, shownChars))}`).join("\n");
}
