/** Paths inside a container, shared by host and agent. */
export const containerPaths = {
  group: "/workspace/group",
  global: "/workspace/global",
  /** Scratch folder of a sub-agent, its only writable one. */
  scratch: "/workspace/scratch",
  extra: "/workspace/extra",
  skills: "/workspace/skills",
  home: "/home/agent",
  temporary: "/tmp",
  toAgent: "/mail/to-agent",
  toHost: "/mail/to-host",
  egress: "/egress",
  agent: "/opt/crabpot/start.cjs",
  probe: "/opt/crabpot/probe.py",
  /** Reads pages of the web, in its own process. */
  reader: "/opt/crabpot/reader.cjs",
  /** Loads a plugin, and answers the host for it. */
  plugin: "/opt/crabpot/plugin.mjs",
  /** Paths in the container of an MCP server or a plugin: its data, its package and its starter. */
  data: "/data",
  package: "/opt/mcp",
  starter: "/opt/crabpot/server.py",
} as const;

/** Paths in the container that looks at a mount with review: the program, the layer, the real folder, both joined. */
export const reviewPaths = {
  program: "/opt/crabpot/review.py",
  layer: "/review/layer",
  real: "/review/real",
  seen: "/review/seen",
} as const;

/** Directories of a mailbox below `<home>/sessions/<session>/mail/<generation>/`. */
export const mailboxFolders = { toAgent: "to-agent", toHost: "to-host", rejected: "rejected" } as const;

/**
 * A folder of the agent's in `to-host`, for what is no message: what a result refers to. The host has one of this name
 * in `to-agent`.
 */
export const filesFolder = "files";

/** Name of a file handed over by the agent. */
export const fileNamePattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Names are counters of twelve digits, so that they sort and are never used twice. */
export const messageFilePattern = /^\d{12}\.json$/;

/** `42` → `000000000042.json` */
export function messageFileName(id: number): string {
  return `${String(id).padStart(12, "0")}.json`;
}

/** The environment of the agent process: constant, without secrets. */
export const agentEnvironment = {
  generation: "CRABPOT_GENERATION",
  /** Set where file events may not arrive: how often to look instead. */
  rescanMs: "CRABPOT_RESCAN_MS",
  /** Working folder of commands, where it is not the group's folder. */
  workspace: "CRABPOT_WORKSPACE",
} as const;

/**
 * The way out of a container that has one: a socket of the host's, and the port of the container's own loopback at
 * which the agent makes it reachable for ordinary programs.
 */
export const egressProxy = {
  socketName: "proxy.sock",
  /** Certificates to trust, for groups whose requests get secrets added. */
  certificatesName: "certificates.pem",
  port: 3128,
} as const;
