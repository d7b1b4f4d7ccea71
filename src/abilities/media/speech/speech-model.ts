import { existsSync } from "node:fs";
import { join } from "node:path";

import { inModules, type ModelPackage, onnxRuntime } from "../../../models/local/model-package.ts";

/** The local model that hears English: Moonshine tiny, quantized (https://github.com/moonshine-ai/moonshine, MIT). */
export const speechModelName = "moonshine-tiny-int8";

/** In the model's folder. */
export const speechFiles = {
  encoder: "encoder_model.onnx",
  decoder: "decoder_model_merged.onnx",
  words: "llama-tokenizer.mjs",
} as const;

const weightsFolder = "dist/model/tiny/quantized/";

/** Decoder of Ogg Opus and its dependencies, without the parts for web pages. */
const decoder: readonly ModelPackage[] = [
  {
    name: "ogg-opus-decoder",
    version: "1.7.5",
    sha256: "7882e95cc80960663388d86a0be8b4e05bde05ec688d33600e4a353e56f92713",
    place: inModules("ogg-opus-decoder", /^(?:package\.json|index\.js|src\/.*\.js)$/),
  },
  {
    name: "opus-decoder",
    version: "0.7.12",
    sha256: "da533b53ee80a0c98c58f2ea9e37221c21025145f0b0037def38ae1a31c3d5dc",
    place: inModules("opus-decoder", /^(?:package\.json|index\.js|src\/.*\.js)$/),
  },
  {
    name: "codec-parser",
    version: "2.5.0",
    sha256: "37cfcc258a77800d370b841e33cf19a18a3be6a990c0d1332ea3e01cb4ac4272",
    place: inModules("codec-parser", /^(?:package\.json|LICENSE|index\.js|src\/.*\.js)$/),
  },
  {
    name: "@wasm-audio-decoders/common",
    version: "9.0.7",
    sha256: "052220a48a739f2de5419d35dd393ebd89b06ffa2b69f4e9cd6742bfd7c37070",
    place: inModules("@wasm-audio-decoders/common", /^(?:package\.json|index\.js|src\/[^/]*\.js)$/),
  },
  {
    name: "@eshaz/web-worker",
    version: "1.2.2",
    sha256: "92af6282372f58bba0bc3afbb6df63136e3efd9ab9afa4262be0de0d6ccb682d",
    place: inModules("@eshaz/web-worker", /^(?:package\.json|LICENSE|node\.js|cjs\/.*)$/),
  },
  {
    name: "simple-yenc",
    version: "1.0.4",
    sha256: "52151d29797654e08019f3d45e5f22c16ebc3c356258b00926aa4db636012fbd",
    place: inModules("simple-yenc", /^(?:package\.json|LICENSE|dist\/.*\.m?js)$/),
  },
];

/** Weights from moonshine-js and vocabulary from llama-tokenizer-js, without their dependencies. */
export const speechPackages: readonly ModelPackage[] = [
  {
    name: "@moonshine-ai/moonshine-js",
    version: "0.1.29",
    sha256: "864e17a00ed494857c71693e835306fa038e0f82002c76e3056d67d574e1c2d8",
    place: (file) => {
      if (file === "LICENSE") return file;
      const name = file.startsWith(weightsFolder) ? file.slice(weightsFolder.length) : "";
      return name === speechFiles.encoder || name === speechFiles.decoder ? name : undefined;
    },
  },
  {
    name: "llama-tokenizer-js",
    version: "1.2.2",
    sha256: "ee83014ac8b379b16cf8d81e99ffcdb23dfade8c0d2e751bd06e7dc0b8476e72",
    place: (file) => (file === "llama-tokenizer.js" ? speechFiles.words : undefined),
  },
  ...decoder,
  ...onnxRuntime,
];

/** True when the model is in this folder. */
export function isSpeechModelInstalled(folder: string): boolean {
  return Object.values(speechFiles).every((name) => existsSync(join(folder, name)));
}

/** Folder of the model in a home. */
export function speechFolder(home: string): string {
  return join(home, "models", speechModelName);
}
