/**
 * Caps that both sides keep. The host enforces them against the agent; the agent keeps them so as not to be refused.
 */
export const limits = {
  /** Bytes of one message file. */
  messageBytes: 1024 * 1024,
  /** Nesting of JSON in a message. */
  depth: 32,
  /** Unhandled files that the agent may have in its directory. */
  files: 256,
  /** Violations of the protocol after which a container is ended. */
  violations: 8,
  /** Characters of one tool result as the model sees it; longer output is cut in the middle. */
  toolOutputChars: 30_000,
  /** Characters of a piece of a tool's output, while it runs. */
  outputPieceChars: 4_000,
  /** Tools of one turn. */
  tools: 512,
  /** The longest that a tool may ask for. */
  toolTimeoutSeconds: 24 * 60 * 60,
  /** Tool results in one message. */
  toolResults: 64,
  /** Parts of one tool result besides its text. */
  resultParts: 16,
  /** Bytes of an image that a tool shows to the model; the host makes it small. */
  imageBytes: 16_000_000,
  /** Maximum bytes of files referred to by results, until the host has taken them. */
  resultFileBytes: 48_000_000,
  /** Files that results refer to, until the host has taken them. */
  resultFiles: 64,
  /** Characters of an address of the web. */
  addressChars: 4_096,
  /** Results of one search. */
  searchResults: 20,
  /** Background jobs of one container at once, however many the host allows. */
  jobs: 16,
  /** The longest that a background job may run. */
  jobSeconds: 24 * 60 * 60,
  /** Characters of a job's command, and of the last lines of its output, as the host is told about them. */
  jobCommandChars: 500,
  jobOutputChars: 4_000,
  /** Characters of a chat message that the agent sends. */
  textChars: 64_000,
} as const;
