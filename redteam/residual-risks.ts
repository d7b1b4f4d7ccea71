/** Risks that the suite does not cover, so that a table without failures is not overrated. */
export const residualRisks: readonly { readonly risk: string; readonly why: string }[] = [
  {
    risk: "holes of the kernel itself",
    why: "the kernel is shared; a sandboxed runtime or its own machine helps",
  },
  {
    risk: "covert channels by timing and volume (D17)",
    why: "an agent that may answer can encode; volume is metered by budgets",
  },
  {
    risk: "what an agent tells its own members and the model's vendor (D15)",
    why: "it may say what it may read; grant it only what they may know",
  },
  {
    risk: "server names and byte limits inside allowed tunnels (D9, D12, D18)",
    why: "the unit tests attack these parts, with real servers",
  },
  {
    risk: "hosts that store a secret and show it in a form that nobody looks for",
    why: "no mask knows all of them; bind secrets to methods and paths, and give tokens few rights",
  },
  {
    risk: "what is in a file (J2 to J4)",
    why: "the host looks at its first bytes only; programs in the container read it, and pictures their own process",
  },
  {
    risk: "holes of the decoders of pictures",
    why: "they are machine code: one that a picture takes over has the host's user in a process without environment, capabilities and, where the system lets it, network",
  },
  {
    risk: "holes of Chromium and Playwright",
    why: "they run in the group's container without Chromium's own sandbox: what takes them over has what a command of the agent has",
  },
  { risk: "web pages, web sockets (I5, I7, I10)", why: "there are none" },
  {
    risk: "a call of a webhook that somebody has read, sent again under another delivery number",
    why: "only the body is signed, as the platforms do it; who can read the calls has to be kept out by TLS",
  },
  {
    risk: "rules and secrets that are remembered in words which no pattern knows",
    why: "memories are shown as material, with their origins; rules of the policy have to hold against them",
  },
  {
    risk: "where an installed plugin sends what it is given, and holes of Node's permission model",
    why: "its process can reach the network and runs as the host's user; whoever installs it decides",
  },
  {
    risk: "what an installed skill tells agents to do",
    why: "whoever installs it decides; the scan finds only what is clumsy, and policy and container hold as for any other call",
  },
  {
    risk: "configuration that is reloaded while the host runs (K3)",
    why: "no container can reach the files that it is read from",
  },
  {
    risk: "length prefixes and half-open connections of a container's socket (B17 to B19)",
    why: "a mailbox is files; there is no socket",
  },
  {
    risk: "a disk that an agent keeps busy",
    why: "what the host waits for a disk is not told from what others make it wait: its event loop is judged by what it computes",
  },
  { risk: "engines and runtimes other than the one that was found", why: "the suite attacks what is installed" },
  {
    risk: "supply chain (L): crabpot's own dependencies",
    why: "it is decided before anything runs: pinned versions, no install scripts",
  },
  {
    risk: "what scripts of a group's packages reach over the network while they are installed, and what libraries do later",
    why: "whoever names a package, or allows it, trusts its publisher with that; docs/packages.md",
  },
  { risk: "an audit log rewritten with its key by root (M3)", why: "only an anchor outside of the machine shows it" },
  { risk: "the root user of the machine", why: "can do everything, reading the home included" },
];
