/** Variables that say how to reach the network and what to trust; nothing else of ours gets to the worker. */
export const workerVariables = [
  "NODE_EXTRA_CA_CERTS",
  "NODE_OPTIONS",
  "TZ",
  "LANG",
  "TMPDIR",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "no_proxy",
  "NODE_USE_ENV_PROXY",
] as const;
