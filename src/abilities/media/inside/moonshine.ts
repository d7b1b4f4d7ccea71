import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { speechFiles } from "../speech/speech-model.ts";

/** Used parts of onnxruntime-node, which lies in the model's folder. */
interface Runtime {
  readonly Tensor: new (type: string, data: unknown, dimensions: readonly number[]) => unknown;
  readonly InferenceSession: { create(path: string, options: object): Promise<Session> };
}

interface Session {
  run(feeds: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, { readonly data: Float32Array }>>>;
}

/** Vocabulary of Llama, used by Moonshine. */
interface Words {
  decode(tokens: readonly number[]): string;
}

/** Samples a second that the model was trained on. */
export const sampleRate = 16_000;
/** Dimensions of Moonshine tiny: https://github.com/moonshine-ai/moonshine-js, src/model.ts. */
const [layers, heads, headSize] = [6, 8, 36];
const [startToken, endToken] = [1, 2];
/** Maximum tokens per second of speech; without it the model may repeat a word for ever. */
const tokensPerSecond = 6;
const parts = ["decoder", "encoder"].flatMap((side) => ["key", "value"].map((part) => `${side}.${part}`));
const pastNames = Array.from({ length: layers }, (_, layer) => parts.map((part) => `past_key_values.${layer}.${part}`));

/** Moonshine tiny in a folder where it was installed. */
export class Moonshine {
  readonly #runtime: Runtime;
  readonly #encoder: Session;
  readonly #decoder: Session;
  readonly #words: Words;

  private constructor(runtime: Runtime, sessions: readonly [Session, Session], words: Words) {
    this.#runtime = runtime;
    [this.#encoder, this.#decoder] = sessions;
    this.#words = words;
  }

  static async load(folder: string): Promise<Moonshine> {
    const runtime = createRequire(join(folder, "index.js"))("onnxruntime-node") as Runtime;
    const { default: words } = (await import(pathToFileURL(join(folder, speechFiles.words)).href)) as {
      default: Words;
    };
    const options = { intraOpNumThreads: 1, interOpNumThreads: 1, graphOptimizationLevel: "all", logSeverityLevel: 3 };
    const open = (name: string): Promise<Session> => runtime.InferenceSession.create(join(folder, name), options);
    return new Moonshine(runtime, [await open(speechFiles.encoder), await open(speechFiles.decoder)], words);
  }

  /** Transcribes samples of one channel at `sampleRate`; a few seconds work best. */
  async hear(samples: Float32Array): Promise<string> {
    const tensor = (type: string, data: unknown, dimensions: readonly number[]): unknown =>
      new this.#runtime.Tensor(type, data, dimensions);
    const encoded = await this.#encoder.run({ input_values: tensor("float32", samples, [1, samples.length]) });
    const nothing = tensor("float32", new Float32Array(0), [0, heads, 1, headSize]);
    const past: Record<string, unknown> = Object.fromEntries(pastNames.flat().map((name) => [name, nothing]));
    const said: number[] = [];
    const most = Math.ceil((samples.length / sampleRate) * tokensPerSecond);
    for (let last = startToken; said.length < most; said.push(last)) {
      const isFirst = said.length === 0;
      const answer = await this.#decoder.run({
        input_ids: tensor("int64", BigInt64Array.of(BigInt(last)), [1, 1]),
        encoder_hidden_states: encoded["last_hidden_state"],
        use_cache_branch: tensor("bool", [!isFirst], [1]),
        ...past,
      });
      last = likeliest(answer["logits"]?.data ?? new Float32Array(0));
      if (last === endToken) break;
      // What the encoder has heard does not change anymore.
      for (const name of Object.keys(past))
        if (isFirst || name.includes("decoder")) past[name] = answer[name.replace("past_key_values", "present")];
    }
    // The tokenizer takes the first token for one that begins a text.
    return this.#words.decode([startToken, ...said]).trim();
  }
}

function likeliest(logits: Float32Array): number {
  let best = 0;
  for (let token = 1; token < logits.length; token += 1) if ((logits[token] ?? 0) > (logits[best] ?? 0)) best = token;
  return best;
}
