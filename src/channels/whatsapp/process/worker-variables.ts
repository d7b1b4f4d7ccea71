import { proxyVariables } from "../../../lib/process/proxy-variables.ts";

/**
 * Variables that say how to reach the network, what to trust and where compiled code is kept; nothing else of ours gets
 * to the worker.
 */
export const workerVariables = [
  "NODE_COMPILE_CACHE",
  "NODE_EXTRA_CA_CERTS",
  "NODE_OPTIONS",
  "TZ",
  "LANG",
  "TMPDIR",
  ...proxyVariables,
] as const;
