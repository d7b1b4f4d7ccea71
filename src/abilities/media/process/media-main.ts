import { Socket } from "node:net";
import { join } from "node:path";

import { mediaOperations, type MediaOperation, MediaError } from "../operations.ts";
import { tellAbilities } from "../inside/abilities.ts";
import { shrinkPicture } from "../inside/picture.ts";
import { readLines } from "../../../lib/process/read-lines.ts";
import { type AnswerLine, lineLimits, requestLine, shortReason } from "./lines.ts";

/*
 * The process that reads files of strangers. It has no environment, no keys and no way to the network or to files but
 * for those of its two folders; whatever a file makes it do, the host sees only a line and the file that was written.
 * It ends with the host.
 */

const [, , inFolder = "", outFolder = ""] = process.argv;

const { picture, sound, transcribe } = mediaOperations;

const work: Readonly<Record<MediaOperation, (files: Files, request: unknown) => Promise<unknown>>> = {
  abilities: () => tellAbilities(),
  picture: ({ input, output }, request) => shrinkPicture(input, output, picture.request.parse(request)),
  sound: async ({ input }, request) =>
    (await import("../inside/sound.ts")).measureSound(input, sound.request.parse(request)),
  transcribe: async ({ input }, request) =>
    (await import("../inside/sound.ts")).transcribe(input, transcribe.request.parse(request)),
};

interface Files {
  readonly input: string;
  readonly output: string;
}

const line = new Socket({ fd: 3, readable: true, writable: true });
for (const over of ["end", "close", "error"]) line.on(over, () => process.exit(0));
const end = (): never => process.exit(1);

readLines(line, {
  ...lineLimits,
  onLine: (text) => {
    answer(text.toString("utf8")).catch(end);
    return undefined;
  },
  onFault: end,
});

async function answer(text: string): Promise<void> {
  const { id, operation, request } = requestLine.parse(JSON.parse(text));
  const files = { input: join(inFolder, id), output: join(outFolder, id) };
  const said: AnswerLine = await run(operation, files, request).then(
    (result) => ({ id, result }),
    (error: unknown) => ({
      id,
      failure: failureOf(error),
      reason: shortReason(withoutPaths((error as Error).message, files)),
    }),
  );
  line.write(`${JSON.stringify(said)}\n`);
}

/** Decoders name the file that they were given; where that lies is nobody's business, and another place each time. */
function withoutPaths(message: string, { input, output }: Files): string {
  const names = [input, output].flatMap((path) => [`${path}: `, path]);
  return names.reduce((left, name) => left.replaceAll(name, ""), message);
}

async function run(operation: string, files: Files, request: unknown): Promise<unknown> {
  if (!Object.hasOwn(mediaOperations, operation)) throw new MediaError("failed", `there is no operation ${operation}`);
  return work[operation as MediaOperation](files, request);
}

/** Of a decoder: the file is at fault. */
function failureOf(error: unknown): MediaError["failure"] {
  return error instanceof MediaError ? error.failure : "refused";
}
