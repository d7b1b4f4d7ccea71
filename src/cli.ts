import { runCommandLine } from "./cli/command-line.ts";
import { readEnvironment } from "./config/environment.ts";

// A reader that has seen enough (`crabpot logs | head`) is no fault.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit();
  });
}

process.exitCode = await runCommandLine(process.argv.slice(2), readEnvironment(), process);
