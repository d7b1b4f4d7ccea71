import { enableCompileCache } from "node:module";
import { join } from "node:path";

// Taking the types away and compiling is half of what a start takes. The cache is as safe as the checkout that it lies in;
// where it cannot be written, there is none.
enableCompileCache(join(import.meta.dirname, "../dist/compile-cache"));
const { runCommandLine } = await import("./cli/command-line.ts");
const { readEnvironment } = await import("./config/environment.ts");

/** A reader that has seen enough (`crabpot logs | head`) is no fault: commands end quietly, a host ends in good order. */
function endQuietly(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
  process.stdout.on("error", () => undefined);
  if (process.listenerCount("SIGTERM") === 0) process.exit();
  process.kill(process.pid, "SIGTERM");
}

process.stdout.once("error", endQuietly);
// Nobody reads the log here any more; it is also in the home.
process.stderr.on("error", () => undefined);

process.exitCode = await runCommandLine(process.argv.slice(2), readEnvironment(), process);
