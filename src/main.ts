import { isatty } from "node:tty";

import { runCommandLine } from "./surfaces/cli/command-line.ts";
import { readEnvironment } from "./config/environment.ts";
import { hostFunctions } from "./host/host-functions.ts";

/**
 * A reader that has seen enough (`crabpot logs | head`) is no fault: commands end quietly, a host ends in good order. A
 * terminal that has been closed says so by its signal as well, which may come later.
 */
function endQuietly(error: NodeJS.ErrnoException): void {
  const isHungUp = error.code === "EIO" && !isatty(process.stdout.fd);
  if (!isHungUp && error.code !== "EPIPE") throw error;
  // What is still written on the way to the end is for nobody.
  process.stdout.on("error", () => undefined);
  if (!isHungUp && process.listenerCount("SIGTERM") === 0) process.exit();
  process.kill(process.pid, isHungUp ? "SIGHUP" : "SIGTERM");
}

process.stdout.once("error", endQuietly);
// Nobody reads the log here anymore; it is also in the home.
process.stderr.on("error", () => undefined);

process.exitCode = await runCommandLine(process.argv.slice(2), {
  environment: readEnvironment(),
  streams: process,
  hostFunctions,
});
