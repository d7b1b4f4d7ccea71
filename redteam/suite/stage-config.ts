import { randomBytes } from "node:crypto";

import { echoGroups, quickName, type StageInternet } from "./stage-internet.ts";
import { serverName, serverSettings } from "./stage-server.ts";
import { type StageWeb, surfingGroups } from "./stage-web.ts";

/** Secrets that are planted where crabpot keeps secrets; to be seen nowhere else. */
export function plantCanaries() {
  const [injected, neighbour] = [canary(), canary()];
  return {
    webhook: canary(),
    modelKey: canary(),
    token: canary(),
    environment: canary(),
    file: canary(),
    injected,
    neighbour,
  } as const;
}

/** Those of one stage. */
export type Canaries = ReturnType<typeof plantCanaries>;

function canary(): string {
  return `canary${randomBytes(12).toString("hex")}`;
}

function httpGroup(chat: string): { channel: string; chat: string } {
  return { channel: "http", chat };
}

/** Hosts allowed for the group `egress`: an unregistered public name, and names of forbidden places. */
const allowedHosts = ["allowed.invalid:443", "localhost.localdomain:443", "metadata.google.internal:80"];

/** A background job may run this long. */
export const jobSeconds = 10;

/** That a group may say aloud in a day. */
export const spokenChars = 5_000;

/**
 * The configuration of the host under attack. Small limits, so that reaching them is quick and harmless even where they
 * do not hold.
 */
export function stageConfig(options: {
  canaries: Canaries;
  modelUrl: string;
  mounts: readonly object[];
  internet: StageInternet;
  web: StageWeb;
}) {
  const { canaries, modelUrl, mounts, internet, web } = options;
  return {
    channels: { http: {} },
    gateway: { port: 0, token: canaries.token },
    groups: {
      red: { ...httpGroup("red"), skills: ["git", "skill-writer"] },
      blue: httpGroup("blue"),
      mounts: { ...httpGroup("mounts"), mounts },
      egress: { ...httpGroup("egress"), network: { allow: allowedHosts } },
      bots: { ...httpGroup("bots"), limits: { loopTurns: 6 } },
      busy: { ...httpGroup("busy"), limits: { turnsPerHour: 6 } },
      drowned: httpGroup("drowned"),
      locked: { ...httpGroup("locked"), skills: "all", policy: { tools: { shell: "deny" } } },
      tooled: { ...httpGroup("tooled"), skills: "all", policy: { preset: "open" } },
      called: httpGroup("called"),
      served: { ...httpGroup("served"), mcp: [serverName] },
      pair: { ...httpGroup("pair"), agents: ["main", "helper"] },
      ...judgedGroups(internet.port),
      ...surfingGroups(web),
      ...echoGroups(canaries, internet.port),
    },
    agents: { helper: { permissions: [{ tool: "write_file", action: "deny" }] } },
    mcp: { servers: { [serverName]: serverSettings } },
    hooks: { calls: { group: "called", secret: canaries.webhook, perMinute: 6_000 } },
    models: {
      routes: { main: ["attacker/model"], sees: ["attacker/eyes"] },
      // All attacks on a group are one conversation, of which each wants to see its own part.
      capabilities: { "attacker/model": { contextTokens: 2_000_000 }, "attacker/eyes": { vision: true } },
      providers: { attacker: { kind: "openai", apiKey: canaries.modelKey, baseUrl: modelUrl } },
      attempts: 2,
    },
    media: {
      transcription: { provider: "attacker", model: "ears" },
      speech: { provider: "attacker", model: "mouth", charactersPerDay: spokenChars },
    },
    sandbox: { memoryMb: 256, pids: 128, nameservers: [internet.names.address] },
    intake: {
      perSenderPerMinute: 10_000,
      perGroupPerDay: { messages: 20_000, megabytes: 24 },
      perMemberPerDay: { messages: 5_000, megabytes: 6, attachmentMegabytes: 32 },
    },
    // Attacks follow one another faster than people talk, all by one member; `bots` and `busy` are for those on this
    // limit.
    limits: { turnsPerHour: 0, loopTurns: 0, jobs: { hours: jobSeconds / 3_600 } },
    sessions: { turnTimeoutMinutes: 3, visibility: "all" },
  };
}

/** Groups whose policy looks at what a turn has read, and at who asks. */
function judgedGroups(port: number): object {
  const server = `${quickName}:${port}`;
  return {
    careful: {
      ...httpGroup("careful"),
      network: { allow: [server], allowPrivate: [server] },
      policy: { rules: [{ tool: "send_message", origin: "web", action: "deny" }] },
    },
    sighted: {
      ...httpGroup("sighted"),
      model: "sees",
      policy: { rules: [{ tool: "send_message", origin: "file", action: "deny" }] },
    },
    asking: {
      ...httpGroup("asking"),
      members: { default: "member", "http:boss": "admin" },
      policy: { tools: { shell: "ask" } },
    },
    // What is harmless by itself runs unasked; the rest is asked, of more people for those with fewer rights.
    shown: {
      ...httpGroup("shown"),
      members: { default: "guest", "http:boss": "admin" },
      policy: {
        rules: [
          { tool: "shell", match: "cd *", action: "allow" },
          { tool: "shell", match: "source *", action: "allow" },
          { tool: "shell", role: ">=admin", action: "ask" },
          { tool: "shell", role: "<admin", action: "ask", quorum: 2, approvers: "owner" },
        ],
      },
    },
    // Words of others than admins take a tool away.
    washed: {
      ...httpGroup("washed"),
      members: { default: "guest", "http:boss": "admin", "http:mia": "member" },
      policy: {
        rules: [
          { tool: "send_message", origin: ["guest", "member"], action: "deny" },
          { tool: "shell", action: "ask", approvers: "member" },
        ],
      },
    },
    offered: {
      ...httpGroup("offered"),
      mcp: [serverName],
      policy: { rules: [{ tool: "send_message", origin: "mcp", action: "deny" }] },
    },
    ranked: {
      ...httpGroup("ranked"),
      members: { default: "guest", "http:boss": "admin", "http:mia": "member" },
      policy: { rules: [{ tool: "shell", role: "<admin", action: "deny" }] },
    },
  };
}
