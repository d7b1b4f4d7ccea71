import { join } from "node:path";

import { AppError } from "../../src/lib/app-error.ts";
import type { AttackCall } from "./model.ts";
import type { Stage, StageGroup } from "./stage.ts";
import { isSoon } from "./waiting.ts";

export const boss = { sender: { id: "boss", name: "Boss" } };

/** A call that rules take away from turns that have read a page. */
export const leak: AttackCall = { name: "send_message", input: { text: "what the page wanted to be said" } };

const members = { default: "guest", "http:boss": "admin", "http:mia": "member" };
const rules = [
  { tool: "send_message", origin: "web", action: "deny" },
  { tool: "write_file", origin: "web", action: "ask", approvers: "admin" },
];

/**
 * Adds what whole chains of attacks need: groups that remember, `boards`, a main group; `lender` and `borrower`, with
 * one folder; `beats`, which looks by itself; `family`, a person's `direct` chat and another chat of that person.
 */
export function giveMemory(
  config: { readonly groups: object },
  { userHome }: { readonly port: number; readonly userHome: string },
): object {
  const groups = config.groups as Readonly<Record<string, object>>;
  const of = (chat: string, more: object = {}) => ({ channel: "http", chat, members, policy: { rules }, ...more });
  const { web } = groups["surfing"] as { readonly web: object };
  const lent = (access: string) => [{ source: join(userHome, "projects/lent"), target: "lent", access, shared: true }];
  return {
    ...config,
    groups: {
      ...groups,
      surfing: { ...groups["surfing"], members, skills: "all", policy: { rules } },
      called: { ...groups["called"], members, policy: { rules } },
      boards: of("boards", { main: true, web }),
      lender: of("lender", { web, mounts: lent("rw") }),
      borrower: of("borrower", { mounts: lent("ro") }),
      beats: of("beats", { web, heartbeat: { everyMinutes: 1 } }),
      direct: of("direct", { trigger: "always" }),
      family: of("family", { members: { default: "member" } }),
    },
    people: {
      ann: { ids: ["http:ann", "http:ann-at-work"], role: "member" },
      owen: { ids: ["http:owen", "http:owen-at-work"], role: "owner" },
      olga: { ids: ["http:olga"], role: "owner" },
    },
    memory: {
      enabled: true,
      embeddings: "none",
      recallTokens: 0,
      extract: { everyMessages: 0 },
      global: { read: "all" },
    },
  };
}

/** What a group's agent does for an admin in a new conversation. */
export async function inNewConversation(
  stage: Stage,
  group: StageGroup,
  calls: readonly AttackCall[],
  words = "",
): Promise<readonly string[]> {
  await stage.ask(group, "/new", boss);
  return callsOf(stage, group, calls, { words });
}

/** What it does in the conversation that there is; `who` asks, an admin if nobody is named. */
export async function callsOf(
  stage: Stage,
  group: StageGroup,
  calls: readonly AttackCall[],
  { words = "", who = boss, say = "done" }: { words?: string; who?: object; say?: string } = {},
): Promise<readonly string[]> {
  const name = stage.model.prepare({ rounds: calls.map((call) => [call]), say });
  await stage.ask(group, `@crab ${words} ${name}`, who);
  return stage.model.shown(name)?.toolOutputs ?? [];
}

export function isRefused(output: string | undefined): boolean {
  return output?.includes("policy does not allow") === true;
}

/** Allows what the group was asked last. */
export async function allowLast(stage: Stage, group: StageGroup): Promise<void> {
  const open = () => stage.list<{ readonly code: string }>("approvals.list", { group, all: false });
  await isSoon(async () => (await open()).length > 0);
  const [asked] = await open();
  if (!asked) throw new AppError("not_found", `Nobody was asked in ${group}.`);
  await stage.control("approvals.answer", { code: asked.code, decision: "allow", scope: "once" });
}
