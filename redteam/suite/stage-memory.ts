import { join } from "node:path";

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
  config: { readonly groups: object; readonly models: object },
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
    // Small enough that a conversation can be summed up.
    models: {
      ...config.models,
      capabilities: { "attacker/model": { contextTokens: 200_000 }, "attacker/eyes": { vision: true } },
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
