import type { Column } from "../../../operations/definition/cli-leaf.ts";
import type {
  StepView,
  ToolCallView,
  ToolResultView,
  TurnLine,
  TurnReport,
  TurnUsage,
  TurnView,
} from "../../../operations/turns/turn-view.ts";
import { formatUsd } from "../../../lib/text/format-usd.ts";
import { formatDuration, formatTime } from "../../../lib/time/formats.ts";
import type { Output } from "../output.ts";

const columns: readonly Column<TurnLine>[] = [
  { title: "turn", of: (turn) => turn.id, shownChars: 8 },
  { title: "group", of: (turn) => turn.group },
  { title: "agent", of: ({ agent }) => agent },
  { title: "member", of: describeAsker, shownChars: 20 },
  { title: "state", of: describeState },
  { title: "started (UTC)", of: (turn) => formatTime(turn.startedAt) },
  { title: "took", of: (turn) => (turn.endedAt ? formatDuration(turn.endedAt - turn.startedAt) : "") },
  { title: "cost", of: ({ usd }) => (usd === undefined ? undefined : formatUsd(usd)) },
  { title: "question", of: describeQuestion, fills: true },
];

export function showTurnList(output: Output, listed: readonly TurnLine[]): void {
  output.items(listed, columns, "No such turns.");
  for (const turn of new Map(listed.map((one) => [one.group, one])).values()) {
    if (turn.waiting) output.line(`waiting in group ${turn.group}: ${describeWaiting(turn)}`);
  }
}

/** With the codes that people have to answer first. */
function describeState({ state, waitsFor }: TurnLine): string {
  return waitsFor === undefined ? state : `${state}, waits for ${waitsFor.join(", ")}`;
}

/** A member, or in brackets what else made it begin. */
function describeAsker({ member, cause }: TurnLine): string | undefined {
  return member ?? (cause === "message" ? undefined : `(${cause})`);
}

/** With why it failed or was cancelled. */
function describeQuestion({ question = "", reason }: TurnLine): string {
  return reason === undefined ? question : `${question} [${reason}]`;
}

function describeWaiting({ waiting }: TurnView): string | undefined {
  return waiting && `${waiting.messages}, oldest ${formatDuration(Date.now() - waiting.oldestAt)}`;
}

/** In the order in which they are first entered. */
const phases = ["queue", "container", "context", "model", "tools", "mailbox", "send"] as const;

function describeTimes(times: TurnReport["times"]): string {
  const known = phases.flatMap((phase) => {
    const ms = times[phase];
    return ms === undefined ? [] : [`${phase} ${ms < 10 ? `${ms.toFixed(1)} ms` : formatDuration(ms)}`];
  });
  return known.join(", ");
}

function describeUsage({ cached, uncached, written, output, usd }: TurnUsage): [string, string | undefined][] {
  const input = cached + uncached + written;
  return [
    ["tokens", `${input} in (${cached} cached, ${written} written to the cache), ${output} out`],
    ["cost", usd === undefined ? undefined : formatUsd(usd)],
  ];
}

export function showReport(output: Output, report: TurnReport): void {
  const { turn, elapsedMs, times, messages, steps, usage } = report;
  output.facts(turn, [
    ["turn", turn.id],
    ["group", turn.group],
    ["state", turn.state],
    ["reason", turn.reason],
    ["started", `${formatTime(turn.startedAt)} UTC`],
    ["took", elapsedMs === undefined ? undefined : formatDuration(elapsedMs)],
    ["of which", describeTimes(times)],
    ["containers", turn.attempts],
    ["silent", report.silent && "silent: nothing to say in the chat"],
    ["has read", report.origins.join(", ")],
    ["waiting", describeWaiting(turn)],
    ...(report.pruned === true ? [] : describeUsage(usage)),
  ]);
  output.line("");
  for (const message of messages) {
    output.line(message.pruned === true ? "(a message that is no longer kept)" : `${message.sender}: ${message.text}`);
  }
  if (report.pruned === true) output.line("The steps of this turn are no longer kept (store.retentionDays.turns).");
  for (const step of steps) {
    output.line("");
    showStep(output, step);
  }
  showApprovals(output, report);
  if (report.executionPoints.length === 0) return;
  output.line("");
  output.line("Check these before you use the folders on the host, where programs run them automatically:", "bad");
  for (const { change, kind, target, path } of report.executionPoints) {
    output.line(`  ${change}  ${kind}  ${target}/${path}`);
  }
}

function showApprovals(output: Output, { approvals }: TurnReport): void {
  if (approvals.length > 0) output.line("");
  for (const { code, tool, state, decidedBy = "nobody" } of approvals) {
    output.line(`approval ${code} of ${tool}: ${state} (answered by ${decidedBy})`);
  }
}

function showStep(output: Output, step: StepView): void {
  const title = `+${formatDuration(step.afterMs)}  ${step.kind}`;
  switch (step.kind) {
    case "user":
      output.line(title, "bold");
      output.line(step.text);
      return;
    case "tools":
      output.line(title, "bold");
      for (const result of step.results) showResult(output, result);
      return;
    case "model":
      output.line(`${title}  ${step.model}, ${step.usage.inputTokens} in, ${step.usage.outputTokens} out`, "bold");
      if (step.text !== "") output.line(step.text);
      for (const call of step.toolCalls) output.line(`  → ${call.name} ${call.input}${describeVerdict(call)}`);
      for (const denied of step.denied) output.line(`  denied: ${denied.output}`, "bad");
  }
}

/** Describes the verdict on a call. */
function describeVerdict({ action, risk, rule }: ToolCallView): string {
  return action === undefined ? "" : `  (risk ${risk}: ${action} by ${rule})`;
}

function showResult(output: Output, result: ToolResultView): void {
  output.line(`  ← ${result.isError ? "error: " : ""}${result.output}`, result.isError ? "bad" : undefined);
}
