import { join } from "node:path";

import { serveHost } from "../../../processes/inside.ts";
import { mediaReader } from "../../../processes/protocol.ts";
import { tellAbilities } from "../inside/abilities.ts";
import { shrinkPicture } from "../inside/picture.ts";
import { MediaError } from "../media-error.ts";
import { mediaFailures } from "./failures.ts";

/*
 * The process that reads files of strangers. It has no environment, no keys and no way to the network or to files but
 * for those of its two folders; whatever a file makes it do, the host sees only a line and the file that was written.
 * It ends with the host.
 */

const [, , inFolder = "", outFolder = ""] = process.argv;

interface Files {
  readonly input: string;
  readonly output: string;
}

serveHost({
  protocol: mediaReader,
  answers: {
    abilities: () => tellAbilities(),
    picture: ({ file, ...request }) => work(file, ({ input, output }) => shrinkPicture(input, output, request)),
    sound: ({ file, ...request }) =>
      work(file, async ({ input }) => (await import("../inside/sound.ts")).measureSound(input, request)),
    transcribe: ({ file, ...request }) =>
      work(file, async ({ input }) => (await import("../inside/sound.ts")).transcribe(input, request)),
  },
  listeners: {},
  failures: mediaFailures,
});

async function work<Result>(file: string, how: (files: Files) => Promise<Result>): Promise<Result> {
  const files = { input: join(inFolder, file), output: join(outFolder, file) };
  try {
    return await how(files);
  } catch (error) {
    const failure = error instanceof MediaError ? error.failure : "refused";
    throw new MediaError(failure, withoutPaths((error as Error).message, files));
  }
}

/** Removes paths from decoder messages: they are private and differ each time. */
function withoutPaths(message: string, { input, output }: Files): string {
  const names = [input, output].flatMap((path) => [`${path}: `, path]);
  return names.reduce((left, name) => left.replaceAll(name, ""), message);
}
