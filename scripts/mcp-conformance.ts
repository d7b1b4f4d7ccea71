import { clientScenarios, examine } from "./mcp-conformance/examine.ts";

/**
 * `npm run conformance [-- scenario …]`: what crabpot calls MCP servers with against every client scenario of the
 * official suite. Prints each with its outcome, and what the suite had to say where one has failed. Exit 1 then. Needs
 * nothing but this machine.
 */
const wanted = new Set(process.argv.slice(2));
const scenarios = (await clientScenarios()).filter((scenario) => wanted.size === 0 || wanted.has(scenario));
const failed: string[] = [];
for (const scenario of scenarios) {
  const { passed, succeeded, faults, output } = await examine(scenario);
  process.stdout.write(`${passed ? "passed" : "FAILED"}  ${scenario} (${succeeded} checks)\n`);
  for (const fault of faults) process.stdout.write(`        ${fault}\n`);
  if (passed) continue;
  failed.push(scenario);
  process.stdout.write(`${output.slice(-4_000).replaceAll(/^/gm, "        | ")}\n`);
}
process.stdout.write(`${scenarios.length - failed.length} of ${scenarios.length} scenarios passed\n`);
if (failed.length > 0 || scenarios.length === 0) process.exitCode = 1;
