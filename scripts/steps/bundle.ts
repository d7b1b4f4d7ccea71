import { mkdir, readFile, rename, utimes, writeFile } from "node:fs/promises";
import { basename, join, relative, resolve } from "node:path";

import { build, type Plugin } from "esbuild";

import { withNamesOfNode } from "./names-of-node.ts";

const checkoutFolder = resolve(import.meta.dirname, "../..");

/** The processes and threads of the host beside its own; they lie beside the rest as they do in the sources. */
export const workers = {
  worker: "src/channels/whatsapp/process/worker.ts",
  "bytes-worker": "src/records/erasure/bytes/bytes-worker.ts",
  "embedding-worker": "src/abilities/memory/embedding/embedding-worker.ts",
  "media-main": "src/abilities/media/process/media-main.ts",
  "plugin-main": "src/plugins/process/plugin-main.ts",
  "plugin-api": "src/plugins/process/plugin-api.ts",
  "rewrite-thread": "src/stores/sqlite/rewrite/rewrite-thread.ts",
  "memory-thread": "src/abilities/memory/thread/memory-thread.ts",
  "command-thread": "redteam/commands/command-thread.ts",
} as const;

/**
 * Unused parts of the container engine's client: an SSH client without host key checks, BuildKit, tar packing. They
 * would take longer to load than everything else; an error stands in for each. Also fastify's schema compilers, which
 * are disabled (`withoutSchemas`).
 */
const leaveOut: Plugin = {
  name: "leave-out",
  setup(builder) {
    const names =
      /^(node:child_process|ssh2|@grpc\/grpc-js|@grpc\/proto-loader|protobufjs|tar-fs|@balena\/dockerignore|@fastify\/(ajv|fast-json-stringify)-compiler)$/;
    builder.onResolve({ filter: names }, ({ path, importer }) =>
      /\/node_modules\/(commander|dockerode|docker-modem|fastify)\//.test(importer)
        ? { path, namespace: "left-out" }
        : undefined,
    );
    builder.onLoad({ filter: /.*/, namespace: "left-out" }, ({ path }) => ({
      contents: `const fail = () => { throw new Error("${path} is not available: crabpot's build leaves it out."); };
        module.exports = new Proxy({}, { get: () => function () { fail(); } });`,
    }));
  },
};

/** Removes trace support of the CPU time counter, which crabpot does not use. */
const withoutTraces: Plugin = {
  name: "without-traces",
  setup: (builder) => {
    builder.onResolve({ filter: /^@opentelemetry\/api$/ }, ({ path, importer }) =>
      /\/node_modules\/prom-client\//.test(importer) ? { path, namespace: "no-traces" } : undefined,
    );
    builder.onLoad({ filter: /.*/, namespace: "no-traces" }, () => ({ contents: "module.exports = {};" }));
  },
};

/** Files that programs read from beside themselves. */
const plainFiles = ["src/abilities/memory/index/vectors/dot-products.wasm"];

interface BundleOptions {
  /** Names of programs, and the sources of each. */
  readonly programs: Readonly<Record<string, string>>;
  /** Two folders below the checkout, as the sources are: programs find what is theirs from there. */
  readonly folder: string;
  /** The program that is written last: what it leads to is there when it is. */
  readonly last: string;
}

/**
 * Plugins may use all of zod, with its words in fifty languages: built together with these, every other program would
 * load all of it.
 */
const ofPlugins: ReadonlySet<string> = new Set<keyof typeof workers>(["plugin-main", "plugin-api"]);

/** Makes few files of many. Resolves with their names. */
export async function bundle({ programs, folder, last }: BundleOptions): Promise<readonly string[]> {
  const begun = new Date();
  const groups = Object.groupBy(Object.entries(programs), ([name]) => (ofPlugins.has(name) ? "plugins" : "host"));
  const built = await Promise.all([
    ...Object.values(groups).map((group) => filesOf(Object.fromEntries(group), folder)),
    readPlain(folder),
  ]);
  await mkdir(folder, { recursive: true });
  const isLast = (path: string): number => (basename(path) === `${last}.mjs` ? 1 : 0);
  for (const { path, text } of built.flat().toSorted((one, other) => isLast(one.path) - isLast(other.path))) {
    // Tests build as well, and nobody keeps two runs of them apart.
    const fresh = `${path}.${process.pid}.new`;
    await writeFile(fresh, text);
    // What was changed while this was built counts as newer.
    await utimes(fresh, begun, begun);
    await rename(fresh, path);
  }
  return built.flat().map(({ path }) => basename(path));
}

interface BuiltFile {
  readonly path: string;
  readonly text: string | Uint8Array;
}

async function readPlain(folder: string): Promise<readonly BuiltFile[]> {
  const read = plainFiles.map(async (file) => ({
    path: join(folder, basename(file)),
    text: await readFile(join(checkoutFolder, file)),
  }));
  return Promise.all(read);
}

/** The files of programs that share what they have in common. */
async function filesOf(programs: BundleOptions["programs"], folder: string): Promise<readonly BuiltFile[]> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: checkoutFolder,
    entryPoints: { ...programs },
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    platform: "node",
    target: "node24",
    format: "esm",
    plugins: [leaveOut, withoutTraces],
    // They have parts that are no JavaScript, or are found by their place in node_modules.
    external: ["better-sqlite3", "@whiskeysockets/baileys", "sharp", "heic-decode"],
    write: false,
    metafile: true,
    logLevel: "warning",
  });
  return outputFiles.map(({ path, text }) => ({
    path,
    text: withNamesOfNode(text, metafile.outputs[relative(checkoutFolder, path)]?.imports ?? []),
  }));
}
