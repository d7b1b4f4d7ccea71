import { mkdir, readdir, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";

import { build, type Plugin } from "esbuild";

/**
 * Puts the sources and most of the dependencies into few files in dist/host, which start in two thirds of the time: Node looks
 * for each file of a module, and for what it belongs to, one by one. Nothing is made smaller: it would save next to nothing,
 * and traces could not be read any more. Run by scripts/setup, which sees to it that only one is at work; scripts/find-program
 * decides which of both is run.
 */
const checkoutFolder = resolve(import.meta.dirname, "..");
const outputFolder = join(checkoutFolder, "dist", "host");

/** A host of an earlier build that still runs loads the last of its parts moments after its start. */
const keepOldMs = 24 * 60 * 60 * 1000;

/**
 * What the client of the container engine loads at once and crabpot never uses: an SSH client that checks no host key, what
 * speaks to BuildKit, what packs a folder. They would take longer to load than all the rest; an error stands in for each. Also
 * what fastify would check and write JSON with, which it is told not to load (`withoutSchemas`), and which is long to read.
 */
const leaveOut: Plugin = {
  name: "leave-out",
  setup(builder) {
    const names =
      /^(ssh2|@grpc\/grpc-js|@grpc\/proto-loader|protobufjs|tar-fs|@balena\/dockerignore|@fastify\/(ajv|fast-json-stringify)-compiler)$/;
    builder.onResolve({ filter: names }, ({ path, importer }) =>
      /\/node_modules\/(dockerode|docker-modem|fastify)\//.test(importer) ? { path, namespace: "left-out" } : undefined,
    );
    builder.onLoad({ filter: /.*/, namespace: "left-out" }, ({ path }) => ({
      contents: `const fail = () => { throw new Error("${path} is not available: crabpot's build leaves it out."); };
        module.exports = new Proxy({}, { get: () => function () { fail(); } });`,
    }));
  },
};

/**
 * An `import` of Node's http looks at all that it exports, also at what loads undici when it is looked at (`http.WebSocket`): about 30 ms
 * of each start. Asked for in the older way it does not.
 */
const withoutUndici: Plugin = {
  name: "without-undici",
  setup: (builder) => {
    builder.onResolve({ filter: /^node:http$/ }, ({ path }) => ({ path, namespace: "node-http" }));
    builder.onLoad({ filter: /.*/, namespace: "node-http" }, () => ({
      contents: `module.exports = process.getBuiltinModule("node:http");`,
    }));
  },
};

/** What counts the host's CPU time could add to it which trace it was spent in; crabpot has no traces, and does not ask for them. */
const withoutTraces: Plugin = {
  name: "without-traces",
  setup: (builder) => {
    builder.onResolve({ filter: /^@opentelemetry\/api$/ }, ({ path, importer }) =>
      /\/node_modules\/prom-client\//.test(importer) ? { path, namespace: "no-traces" } : undefined,
    );
    builder.onLoad({ filter: /.*/, namespace: "no-traces" }, () => ({ contents: "module.exports = {};" }));
  },
};

const begun = new Date();
const { outputFiles } = await build({
  absWorkingDir: checkoutFolder,
  // The workers are processes and threads of their own, and lie beside the rest as they do in the sources.
  entryPoints: {
    cli: "src/cli.ts",
    worker: "src/channels/whatsapp/process/worker.ts",
    "embedding-worker": "src/memory/embedding/embedding-worker.ts",
    "rewrite-thread": "src/stores/sqlite/rewrite/rewrite-thread.ts",
    "memory-thread": "src/memory/thread/memory-thread.ts",
  },
  outdir: outputFolder,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  splitting: true,
  platform: "node",
  target: "node24",
  format: "esm",
  // Modules of the older kind ask for what is Node's own in this way.
  banner: {
    js: 'import { createRequire as requireFor } from "node:module"; const require = requireFor(import.meta.url);',
  },
  plugins: [leaveOut, withoutUndici, withoutTraces],
  // They have parts that are no JavaScript, or are found by their place in node_modules.
  external: ["better-sqlite3", "@whiskeysockets/baileys"],
  write: false,
  logLevel: "warning",
});

// What Node keeps compiled is kept by names, and those of parts that have changed are new.
await rm(join(checkoutFolder, "dist", "compile-cache"), { recursive: true, force: true });
await mkdir(outputFolder, { recursive: true });
// The command line last: what it leads to must be there.
for (const { path, contents } of outputFiles.toSorted((one, other) => rank(one.path) - rank(other.path))) {
  const fresh = `${path}.new`;
  await writeFile(fresh, contents);
  // What was changed while this was built counts as newer.
  await utimes(fresh, begun, begun);
  await rename(fresh, path);
}
const built = new Set(outputFiles.map(({ path }) => basename(path)));
for (const name of await readdir(outputFolder)) {
  const path = join(outputFolder, name);
  if (!built.has(name) && (await stat(path)).mtimeMs < begun.getTime() - keepOldMs) await rm(path);
}

function rank(path: string): number {
  return basename(path) === "cli.mjs" ? 1 : 0;
}
