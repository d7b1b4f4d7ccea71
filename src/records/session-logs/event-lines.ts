import type { EventType, HostEvent } from "../../domain/events/event.ts";
import type { SessionLogLevel, SessionLogs } from "./session-log.ts";

/** Maximum characters of an agent's claim about its failure. */
const claimChars = 300;

type Said = string | { readonly level: SessionLogLevel; readonly text: string } | undefined;

const seconds = (ms: number): string => (ms / 1000).toFixed(1);
const warning = (text: string) => ({ level: "warn", text }) as const;

/** Lines of a session's log for events, in the host's words. */
const lines: { readonly [Type in EventType]?: (event: HostEvent<Type>) => Said } = {
  "container.attested": ({ data: { name, elapsedMs } }) => `container ${name} is ready after ${elapsedMs} ms`,
  "container.adopted": ({ data: { name } }) => `container ${name} of an earlier start is taken over`,
  "container.frozen": ({ data: { name } }) => `container ${name} is frozen until the next message`,
  "container.thawed": ({ data: { name, elapsedMs } }) => `container ${name} resumed after ${elapsedMs} ms`,
  "container.refused": ({ data: { reason } }) => `a container could not be started: ${reason}`,
  "container.stopped": ({ data: { name, reason } }) => `container ${name} is ended: ${reason}`,
  "turn.started": ({ turn, data: { resumed } }) => `turn ${turn} ${resumed ? "goes on" : "begins"}`,
  "turn.ended": ({ turn, data: { state, reason, elapsedMs } }) =>
    `turn ${turn} is ${state} after ${seconds(elapsedMs)} s${reason === undefined ? "" : `: ${reason}`}`,
  "context.compacted": ({ data: { why, entries, tokens } }) =>
    `${entries} entries are summed up (${why}): ${tokens.before} tokens before, ${tokens.after} now`,
  "context.evicted": ({ data: { why, entries, tokens } }) =>
    warning(`${entries} entries with ${tokens} tokens are not shown anymore (${why}), and there is no summary`),
  "context.refused": ({ data: { reason, attempt } }) => warning(`summary ${attempt} is not used: ${reason}`),
  "tool.called": ({ data: { name, input } }) => `tool ${name}, input ${JSON.stringify(input)}`,
  "tool.denied": ({ data: { name, reason } }) => `tool ${name} is denied: ${reason}`,
  // What it is at are words of the tool's input, and those stay in the store.
  "agent.progressed": ({ data: { chars } }) => `the agent is working (${chars} characters)`,
  "agent.failed": ({ data: { claim } }) => `the agent gave up: ${claim.slice(0, claimChars)}`,
  "agent.overstepped": ({ data: { reason } }) => `the agent overstepped: ${reason}`,
  "mailbox.violated": ({ data: { reason } }) => warning(`a message of the agent was refused: ${reason}`),
  "limit.reached": ({ data: { text } }) => text && warning(text),
  "instructions.changed": ({ data: { file, before, bytes } }) =>
    warning(`${file} has changed since the last turn: ${before.bytes} bytes before, ${bytes} now.`),
};

/** Writes what happens in a session into its log. */
export function writeEventLines(logs: Pick<SessionLogs, "of">): (event: HostEvent) => void {
  return (event) => {
    const { session, group, at } = event;
    if (session === undefined || group === undefined) return;
    const said = (lines[event.type] as ((event: HostEvent) => Said) | undefined)?.(event);
    if (said === undefined || said === "") return;
    const { level, text } = typeof said === "string" ? { level: "info" as const, text: said } : said;
    logs.of({ id: session, group }).write("host", level, text, at);
  };
}
