import { isBuiltin } from "node:module";

/** Modules of the older kind ask for what is Node's own in this way. */
const requireOfNode = 'const require = process.getBuiltinModule("node:module").createRequire(import.meta.url);';

/** Slow Node modules of which commands use little: loaded on the first call of a function. */
const loadedLate = /^(node:)?(child_process|crypto|dns|http|https|net|readline|tls|tty|zlib)$/;

/** Import statement as written by esbuild: a default or namespace import, named imports, or both. */
const importOfModule = /^import (?:(\w+),? )?(?:\* as (\w+) |\{([^{}]*)\} )?from "([\w/:]+)";\n/gm;

/** An import as esbuild counts it. */
interface CountedImport {
  readonly path: string;
  readonly kind: string;
  readonly external?: boolean;
}

/**
 * The text of a module that asks for what it uses of Node itself by name. An `import` looks at all that Node's module
 * exports, also at what loads or computes more when it is looked at, such as `http.WebSocket` or
 * `process.allowedNodeEnvironmentFlags`: a third of the time that a command takes. Throws when it finds others than
 * `imports` says: a text within the module may look like one.
 */
export function withNamesOfNode(text: string, imports: readonly CountedImport[]): string {
  const asked: string[] = [];
  let found = 0;
  const rest = text.replace(importOfModule, (whole, ...groups: (string | undefined)[]) => {
    const [first, all, names, path = ""] = groups;
    if (!isBuiltin(path)) return whole;
    found += 1;
    const lines = [first, all].filter((name) => name !== undefined).map((name) => `const ${name} = ${moduleOf(path)};`);
    asked.push(...lines, ...(names === undefined ? [] : namesOf(path, names)));
    return "";
  });
  const counted = imports.filter(
    ({ path, kind, external }) => external && kind === "import-statement" && isBuiltin(path),
  );
  if (found !== counted.length) {
    throw new Error(
      `esbuild counts ${counted.length} imports of Node's modules where ${found} were found; rename one in a text.`,
    );
  }
  if (rest.includes("typeof require")) asked.push(requireOfNode);
  return [...asked, rest].join("\n");
}

/** Not `process`: a module may have something of that name. */
function moduleOf(path: string): string {
  return `globalThis.process.getBuiltinModule("${path}")`;
}

function namesOf(path: string, names: string): string[] {
  const pairs = names
    .split(",")
    .map((part) => part.trim().split(" as "))
    .map(([name = "", local = name]) => ({ name, local }))
    .filter(({ name }) => name !== "");
  const late = pairs.filter(({ name }) => isLate(path, name));
  const atOnce = pairs.filter((pair) => !late.includes(pair)).map(({ name, local }) => `${name}: ${local}`);
  return [
    ...late.map(({ name, local }) => `const ${local} = (...given) => ${moduleOf(path)}.${name}(...given);`),
    ...(atOnce.length > 0 ? [`const { ${atOnce.join(", ")} } = ${moduleOf(path)};`] : []),
  ];
}

/** True for a plain function: no class, and without properties such as `promisify.custom`. */
function isLate(path: string, name: string): boolean {
  if (!loadedLate.test(path) || !/^[a-z]/.test(name)) return false;
  const exported: unknown = (process.getBuiltinModule(path) as Record<string, unknown>)[name];
  return typeof exported === "function" && Object.getOwnPropertySymbols(exported).length === 0;
}
