import { addAbortSignal } from "node:stream";

import type { Group } from "../../../domain/chats/group.ts";
import { mostVoiceBytes, speechServer } from "../../../domain/settings/speech.ts";
import { AppError, toError } from "../../../lib/app-error.ts";
import { readBytes, TooLongError } from "../../../lib/http/read-answer.ts";
import { MediaError } from "../media-error.ts";
import type { ServerToOpen } from "../../../sandbox/servers/server-streams.ts";
import type { Servers } from "../../../sandbox/servers/servers.ts";
import type { SpeakInContainer } from "./speaking.ts";

const timeoutMs = 60_000;
const lostCodes: ReadonlySet<string> = new Set([
  "attestation_failed",
  "container_lost",
  "engine_refused",
  "image_missing",
]);

/**
 * Speaks words with espeak-ng in a separate container of the group's image, from standard input to Ogg Opus on standard
 * output. The result is exactly the words, whatever runs in the group's containers.
 */
export function createContainerSpeech({
  servers,
  groups,
}: {
  readonly servers: Pick<Servers, "open">;
  readonly groups: { byName(name: string): Group | undefined };
}): SpeakInContainer {
  return async ({ group: name, text, voice }, signal) => {
    const group = groups.byName(name);
    if (!group) throw new MediaError("refused", `the group ${name} is gone`);
    const words = Buffer.from(text.toWellFormed());
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      await using streams = await servers.open(espeak(voice), group, limit);
      streams.input.end(words);
      const sound = await readBytes(addAbortSignal(limit, streams.output), mostVoiceBytes);
      const { exitCode, reason, lastLine } = await streams.ended;
      if (exitCode === 0) return sound;
      const missing = "espeak-ng or opusenc is not in the group's image, which is perhaps still being made";
      throw new MediaError("failed", exitCode === 127 ? missing : `espeak-ng ended early (${reason})`, {
        cause: new Error(lastLine ?? reason),
      });
    } catch (error) {
      signal.throwIfAborted();
      throw inOurWords(toError(error), limit);
    }
  };
}

/** The words come by standard input: nothing in them is an option or a command. */
function espeak(voice: string): ServerToOpen {
  const script = `set -o pipefail; espeak-ng --stdin --stdout -v "$0" | opusenc --quiet --ignorelength --bitrate 24 - -`;
  const [command, args] = ["bash", ["-c", script, voice]] as const;
  const server = {
    kind: "stdio",
    name: speechServer,
    command,
    args,
    env: {},
    image: undefined,
    network: { allow: [], allowPrivate: [], reflects: [], secrets: [] },
    scope: "group",
    folder: "none",
    sampling: false,
    forms: "choices",
    tools: undefined,
    risk: undefined,
  } as const;
  return { server, program: async () => ({ command: [command], args }), inGroupImage: true };
}

function inOurWords(error: Error, limit: AbortSignal): Error {
  if (error instanceof MediaError) return error;
  if (limit.aborted) return new MediaError("failed", `espeak-ng was not done within ${timeoutMs / 1_000} seconds`);
  if (error instanceof TooLongError)
    return new MediaError("failed", `espeak-ng said more than ${mostVoiceBytes / 1_000_000} MB`);
  const isLost = error instanceof AppError && lostCodes.has(error.code);
  return isLost ? new MediaError("failed", "its container could not be started", { cause: error }) : error;
}
