import type { AttackCall } from "./model.ts";
import type { Stage, StageGroup } from "./stage.ts";

/** Acts of a model that obeys what it reads. */
export interface Obeyed {
  /** Words of the orders that it has read and obeyed. */
  readonly words: readonly string[];
  /** Results of its calls: first the scripted ones, then those of the orders. */
  readonly outputs: readonly string[];
  /** Whether each order was refused by the policy. */
  readonly areRefused: boolean;
  readonly lastUser: string;
}

/** Has the group's model make calls and then obey what it has read. */
export async function obey(
  stage: Stage,
  group: StageGroup,
  rounds: readonly (readonly AttackCall[])[],
): Promise<Obeyed> {
  return obeyMessage(stage, group, { rounds });
}

/** Sends files as a member does. Resolves with where they are, in the order in which they were sent. */
export async function sendFiles(
  stage: Stage,
  group: StageGroup,
  files: Readonly<Record<string, Buffer>>,
): Promise<readonly string[]> {
  const { lastUser } = await obeyMessage(stage, group, { rounds: [], files });
  return lastUser.match(/\/workspace\/group\/inbox\/[^\s(<"]+/g) ?? [];
}

/** One message with files, and what the model does with it. */
export async function obeyMessage(
  stage: Stage,
  group: StageGroup,
  {
    rounds,
    files = {},
    mimeType = "application/octet-stream",
  }: { rounds: readonly (readonly AttackCall[])[]; files?: Readonly<Record<string, Buffer>>; mimeType?: string },
): Promise<Obeyed> {
  const name = stage.model.prepare({ rounds, obeys: true, say: "seen" });
  const attachments = Object.entries(files).map(([file, content]) => ({
    name: file,
    mimeType,
    data: content.toString("base64"),
  }));
  await stage.ask(group, `@crab ${name}`, { sender: { id: "mallory", name: "Mallory" }, attachments });
  const shown = stage.model.shown(name);
  const [outputs, words] = [shown?.toolOutputs ?? [], stage.model.obeyed(name)];
  const ofOrders = outputs.slice(outputs.length - words.length);
  const areRefused = ofOrders.every((output) => output.includes("policy does not allow"));
  return { words, outputs, areRefused, lastUser: shown?.lastUser ?? "" };
}
