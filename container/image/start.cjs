"use strict";
/*
 * Starts the agent from its code as it was compiled when the image was built: compiling it anew takes longer than all else
 * that it does before it is ready. Node's own cache of that kind is bound to a user, and each group has a user of its own.
 */
const { existsSync, readFileSync } = require("node:fs");
const { wrap } = require("node:module");
const { Script } = require("node:vm");

const filename = "/opt/crabpot/agent.cjs";
const cache = "/opt/crabpot/agent.cache";
const cachedData = existsSync(cache) ? readFileSync(cache) : undefined;
// A cache that does not fit this Node is passed over by it.
const script = new Script(wrap(readFileSync(filename, "utf8")), { filename, cachedData });

if (process.argv[2] === "--write-cache") {
  process.argv.splice(2, 1);
  // What has run by then is in it.
  process.on("exit", () => require("node:fs").writeFileSync(cache, script.createCachedData()));
}
script.runInThisContext()(exports, require, module, filename, "/opt/crabpot");
