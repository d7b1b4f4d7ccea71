import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** Used parts of onnxruntime-node, which is installed with the model, not as a dependency. */
interface Runtime {
  readonly Tensor: new (type: "int64", data: BigInt64Array, dimensions: readonly number[]) => unknown;
  readonly InferenceSession: { create(model: Uint8Array, options: object): Promise<Session> };
}

interface Session {
  run(feeds: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, { readonly data: Float32Array }>>>;
}

interface Tokenizer {
  encode(text: string): { readonly ids: readonly number[] };
}

interface Tokenizers {
  readonly Tokenizer: new (tokenizer: unknown, config: unknown) => Tokenizer;
}

/** The model was trained on 256 tokens. */
const mostTokens = 256;
/** More characters than these tokens can come from, and few enough for the tokenizer. */
const mostChars = 2_000;
const longestWord = 100;
const separatorId = 102;

/**
 * all-MiniLM-L6-v2 in a folder where `install-model` has put it. Texts get unit vectors, each by itself: none depends
 * on another.
 */
export class MiniLm {
  readonly #runtime: Runtime;
  readonly #session: Session;
  readonly #tokenizer: Tokenizer;

  private constructor(runtime: Runtime, session: Session, tokenizer: Tokenizer) {
    this.#runtime = runtime;
    this.#session = session;
    this.#tokenizer = tokenizer;
  }

  static async load(folder: string, weights: Uint8Array): Promise<MiniLm> {
    const load = createRequire(join(folder, "index.js"));
    const runtime = load("onnxruntime-node") as Runtime;
    const { Tokenizer } = load("@huggingface/tokenizers") as Tokenizers;
    const [vocabulary, config] = await Promise.all(
      ["tokenizer.json", "tokenizer_config.json"].map(async (name): Promise<unknown> =>
        JSON.parse(await readFile(join(folder, name), "utf8")),
      ),
    );
    const session = await runtime.InferenceSession.create(weights, {
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      graphOptimizationLevel: "all",
      logSeverityLevel: 3,
    });
    return new MiniLm(runtime, session, new Tokenizer(vocabulary, config));
  }

  async embed(text: string): Promise<Float32Array> {
    const all = this.#tokenizer.encode(shorten(text)).ids;
    const ids = all.length > mostTokens ? [...all.slice(0, mostTokens - 1), separatorId] : all;
    const tensor = (numbers: readonly number[]): unknown =>
      new this.#runtime.Tensor("int64", BigInt64Array.from(numbers, BigInt), [1, ids.length]);
    const results = await this.#session.run({
      input_ids: tensor(ids),
      attention_mask: tensor(ids.map(() => 1)),
      token_type_ids: tensor(ids.map(() => 0)),
    });
    const hidden = results["last_hidden_state"]?.data ?? new Float32Array(0);
    return meanOf(hidden, ids.length);
  }
}

/** A word without an end would keep the tokenizer busy for long: it tries each beginning of it. */
function shorten(text: string): string {
  return text.slice(0, mostChars).replaceAll(new RegExp(`([^\\s]{${longestWord}})(?=[^\\s])`, "gu"), "$1 ");
}

/** The mean over all tokens, brought to length 1. */
function meanOf(hidden: Float32Array, tokens: number): Float32Array {
  const dimensions = hidden.length / tokens;
  const mean = new Float32Array(dimensions);
  // A plain loop: turns wait for this, and entries take five times as long.
  for (let place = 0; place < hidden.length; place += 1) {
    const at = place % dimensions;
    mean[at] = (mean[at] ?? 0) + (hidden[place] ?? 0);
  }
  const length = Math.hypot(...mean);
  return mean.map((value) => (length === 0 ? 0 : value / length));
}
