import type { Attack, Evidence } from "../suite/attack.ts";
import { forgedAttack, violation } from "../suite/forged.ts";
import { jobSeconds } from "../suite/stage-config.ts";
import type { Stage } from "../suite/stage.ts";
import { isSoon } from "../suite/waiting.ts";

interface JobLine {
  readonly id: string;
  readonly state: string;
  readonly startedAt: number;
  readonly command: string;
}

/** The newest background jobs of the group, as the operator sees them. */
async function jobsOf(stage: Stage): Promise<readonly JobLine[]> {
  return stage.list<JobLine>("jobs.list", { group: "red", all: true, limit: 1_000 });
}

/** Waits until this job is over. */
async function endOf(stage: Stage, id: string): Promise<JobLine | undefined> {
  const job = async () => (await jobsOf(stage)).find((one) => one.id === id);
  await isSoon(async () => (await job())?.state !== "running", 250);
  return job();
}

async function begin(stage: Stage, command: string): Promise<string> {
  const { output } = await stage.calls("red", [[{ name: "shell", input: { command, background: true } }]]);
  return /job-[0-9a-z]+/.exec(output)?.[0] ?? "";
}

/** Evidence, and the number of jobs that ended before they could be stopped. */
async function beginTooMany(stage: Stage): Promise<[Evidence, number]> {
  const job = { name: "shell", input: { command: "sleep 27.1828", background: true } };
  const late = { name: "shell", input: { command: "sleep 27.1828", timeout_s: 1 } };
  const { outputs } = await stage.calls("red", [Array.from({ length: 7 }, () => job), [late]]);
  const running = (await jobsOf(stage)).filter(({ state }) => state === "running");
  for (const { id } of running) await stage.control("jobs.stop", { id });
  const left = (await jobsOf(stage)).filter(({ state }) => state === "running").length;
  const begun = outputs.flatMap((said) => /job-[0-9a-z]+/.exec(said)?.[0] ?? []);
  const ends = (await jobsOf(stage)).filter(({ id }) => begun.includes(id));
  const { output } = await stage.shell("red", "pgrep -fc '[s]leep 27.1828'");
  const holds = running.length === 4 && begun.length === 4 && left === 0 && output.startsWith("0\n");
  const seen = `${running.length} ran, ${left} left; then: ${outputs.at(-1) ?? ""}`;
  return [{ seen, holds }, ends.filter(({ state }) => state === "expired").length];
}

export const attacks: readonly Attack[] = [
  {
    id: "F30",
    title: "a background job that ignores every signal it can, leaves its group, and stays",
    from: "container",
    expected: "ended when its time is over, with all that it has started; the next turn works",
    audit: { type: "job-end", where: ({ group, data }) => group === "red" && data["state"] === "expired" },
    hostStaysAwake: true,
    attempt: async (stage) => {
      const stay = 'trap "" TERM HUP INT QUIT USR1; while :; do sleep 31.4159; done';
      const id = await begin(stage, `trap '' TERM HUP INT; (setsid bash -c '${stay}' &); ${stay}`);
      const job = await endOf(stage, id);
      const { output } = await stage.shell("red", "pgrep -fc '[s]leep 31.4159'; echo alive");
      const holds = job?.state === "expired" && output.startsWith("0\n") && output.includes("alive");
      return {
        seen: `${job?.state ?? "never seen"} after at most ${jobSeconds} s; ${output.split("\n")[0]} left`,
        holds,
      };
    },
  },
  {
    id: "F31",
    title: "a fork bomb as a background job",
    from: "container",
    expected: "stopped by the limit of processes; the next turn works",
    audit: { type: "job-end", where: ({ group }) => group === "red" },
    hostStaysAwake: true,
    attempt: async (stage) => {
      const id = await begin(stage, "bomb() { bomb | bomb & }; bomb; sleep 1000");
      const { output } = await stage.shell("red", "sleep 1; echo alive");
      const job = await endOf(stage, id);
      const { output: after } = await stage.shell("red", "echo alive");
      const holds = job !== undefined && job.state !== "running" && output.includes("alive") && after.includes("alive");
      return { seen: `the job: ${job?.state ?? "never seen"}`, holds };
    },
  },
  {
    id: "F32",
    title: "a background job that prints a gigabyte",
    from: "container",
    expected: "its end alone is kept, in a few megabytes, and its agent is told the last of it",
    audit: { type: "job-end", where: ({ group }) => group === "red" },
    hostStaysAwake: true,
    attempt: async (stage) => {
      const id = await begin(stage, "head -c 1G /dev/zero | tr '\\0' x; echo; echo the very end");
      const job = await endOf(stage, id);
      const { output } = await stage.shell("red", `du -cm ~/jobs/${id}* | tail -n 1; tail -n 1 ~/jobs/${id}.txt`);
      const megabytes = Number(/^\d+/.exec(output)?.[0] ?? Number.NaN);
      const isKept = megabytes > 0 && megabytes <= 9 && (job?.state !== "exited" || output.includes("the very end"));
      return { seen: `${job?.state ?? "never seen"}, ${megabytes} MB kept`, holds: job !== undefined && isKept };
    },
  },
  {
    id: "F33",
    title: "more background jobs than a session may have, in one answer and by commands that run out of time",
    from: "container",
    expected: "the first four begin; each of the others says why it does not, and what runs out of time is killed",
    audit: { type: "job-end", where: ({ group, data }) => group === "red" && data["state"] === "stopped" },
    attempt: async (stage) => {
      let [evidence, expired] = await beginTooMany(stage);
      // On a busy machine their time may be over before they are looked at: the host says so.
      for (let times = 0; times < 5 && expired > 0; times += 1) [evidence, expired] = await beginTooMany(stage);
      return evidence;
    },
  },
  forgedAttack({
    id: "B28",
    title: "10,000 announcements of background jobs, ends of jobs that never were, and jobs of turns of others",
    expected: "as many count as are allowed; the others have no effect; with the container they are over",
    audit: violation(/more background jobs than|outside the turn/),
    knowsTurn: true,
    hostStaysAwake: true,
    program: `
turn = open("/tmp/turn").read()
# An attack on a busy machine is played again: an id that was used before would be refused for that.
run = os.urandom(1).hex()
for n in range(10000):
    while len(os.listdir(box)) > 150: time.sleep(0.005)
    job = "job-1%s%04d" % (run, n // 2)
    if n % 2 == 0: forge(n + 1, {"type": "job-started", "turn": turn if n % 4 == 0 else "another", "job": job, "command": "forged"})
    else: forge(n + 1, {"type": "job-ended", "job": "job-9" + job[5:], "outcome": "exited", "exitCode": 0, "output": "forged end", "toldModel": False})`,
    judge: async (stage) => {
      const ofAll = (await jobsOf(stage)).filter(({ command }) => command === "forged");
      const [newest] = ofAll;
      const forged = ofAll.filter(({ id }) => id.slice(0, -4) === newest?.id.slice(0, -4));
      const running = forged.filter(({ state }) => state === "running").length;
      const { shown } = await stage.shell("red", "true");
      const isThere = shown?.toolOutputs.some((text) => text.includes("forged end")) === true;
      return {
        seen: `${forged.length} counted, ${running} of them still`,
        holds: forged.length <= 4 && running === 0 && !isThere,
      };
    },
  }),
];
