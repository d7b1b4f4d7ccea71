import { containerTools } from "../../container/agent/tools/catalog.ts";
import type { ContainerTool } from "../../container/agent/tools/tool.ts";
import type { HostTool } from "./define-tool.ts";
import { memoryForget } from "./memory-forget.ts";
import { memorySearch } from "./memory-search.ts";
import { memoryStore } from "./memory-store.ts";
import { proposeInstructions } from "./propose-instructions.ts";
import { react } from "./react.ts";
import { sendFile } from "./send-file.ts";
import { sendMessage } from "./send-message.ts";
import { sessionsHistory } from "./sessions-history.ts";
import { sessionsList } from "./sessions-list.ts";
import { sessionsSend } from "./sessions-send.ts";

export type Tool = HostTool | ContainerTool;

const hostTools: readonly HostTool[] = [
  memoryForget,
  memorySearch,
  memoryStore,
  proposeInstructions,
  react,
  sendFile,
  sendMessage,
  sessionsHistory,
  sessionsList,
  sessionsSend,
];

/** Every tool that comes with crabpot. */
export const builtInTools: readonly Tool[] = [...hostTools, ...containerTools];
