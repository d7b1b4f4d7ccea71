import { OwnProcess } from "../../../processes/own-process.ts";
import { mediaReader } from "../../../processes/protocol.ts";
import { mediaFailures } from "./failures.ts";
import { mediaLaunch, type MediaLaunchOptions } from "./launch.ts";

/** One life of the process that reads strangers' files. */
export type MediaProcess = OwnProcess<typeof mediaReader>;

const weighingMs = 100;

/**
 * Starts the process that reads strangers' files. It answers one request after another; what it prints goes nowhere.
 */
export function startMediaProcess(options: MediaLaunchOptions): MediaProcess {
  return new OwnProcess({
    name: "the process that reads such files",
    launch: mediaLaunch(options),
    protocol: mediaReader,
    answers: {},
    listeners: {},
    limits: {
      startMs: 60_000,
      endMs: 0,
      messageBytes: 1024 * 1024,
      messagesPerSecond: 1_000,
      servedCalls: 0,
      openCalls: 1,
      waitingBytes: 1024 * 1024,
      memory: { mb: options.memoryMb, counts: "VmRSS", everyMs: weighingMs },
    },
    failures: mediaFailures,
  });
}
