import type { Delta, MissedDeltas } from "../../../domain/chats/delta.ts";
import type { ToldDelta } from "../../../operations/events/operations.ts";
import type { EventView } from "../../../records/events/event-view.ts";
import type { Output } from "../output.ts";

export function showEvent(output: Output, told: EventView | ToldDelta): void {
  if ("delta" in told) return showDelta(output, told.delta);
  const { seq, time, type, group, actor, data } = told;
  const whose = group === null ? "" : ` ${group}`;
  output.line(`${seq} ${time.slice(0, 19).replace("T", " ")} ${type}${whose} ${actor} ${JSON.stringify(data)}`);
}

function showDelta(output: Output, delta: Delta | MissedDeltas): void {
  if (delta.type === "missed") return output.line("  … (some was missed)");
  const said = "text" in delta ? ` ${JSON.stringify(delta.text)}` : "";
  const tool = delta.type === "output" ? ` of ${delta.tool}` : "";
  output.line(`  ${delta.group} ${delta.type}${tool}${said}`);
}
