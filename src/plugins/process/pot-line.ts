/**
 * The file descriptors of the line in a plugin's container. What it prints goes elsewhere, so that printing is no
 * message; its standard input is empty.
 */
export const pluginLine = { from: 3, to: 4 } as const;

/** Makes them of the container's standard streams, and starts the program that follows. */
export const withPluginLine: readonly string[] = [
  "/bin/sh",
  "-c",
  `exec "$@" ${pluginLine.from}<&0 ${pluginLine.to}>&1 </dev/null >&2`,
  "sh",
];
