/**
 * Environment variables that say through which proxies the network is reached; `NODE_USE_ENV_PROXY` makes Node heed
 * them.
 */
export const proxyVariables = [
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "no_proxy",
  "NODE_USE_ENV_PROXY",
] as const;
