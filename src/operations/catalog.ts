import {
  answerApproval,
  listApprovals,
  revokeApproval,
  showApproval,
  type ApprovalReadingNeeds,
} from "./approvals/operations.ts";
import { listChannels, loginChannel } from "./channels/operations.ts";
import {
  approvePairing,
  approveRequest,
  denyRequest,
  forgetRequest,
  listChats,
  listPairings,
} from "./chats/operations.ts";
import { showContext, type ContextNeeds } from "./contexts/operations.ts";
import type { NeedsOf } from "./define-operation.ts";
import { tailEvents } from "./events/operations.ts";
import {
  addGroup,
  clearFolderOrigins,
  listFolderOrigins,
  listGroups,
  removeGroup,
  type GroupReadingNeeds,
} from "./groups/operations.ts";
import { readStatus, stop } from "./host/operations.ts";
import { buildImages, listImages, pruneImages } from "./images/operations.ts";
import { listJobs, stopJob } from "./jobs/operations.ts";
import { allowMcpTool, listMcpServers, testMcpServer } from "./mcp/operations.ts";
import { forgetMemory, listMemories, showMemory } from "./memory/operations.ts";
import { forgetModels, listModels, type ModelReadingNeeds } from "./models/operations.ts";
import { listOutbox, retryOutbox, send } from "./outbox/operations.ts";
import { erasePerson, listPeople, lookAtPerson, type PeopleNeeds } from "./people/operations.ts";
import { listSessions, stopSession, type SessionReadingNeeds } from "./sessions/operations.ts";
import {
  applyConfig,
  configHistory,
  diffConfig,
  editSettings,
  getSetting,
  setGroup,
  showGroup,
} from "./settings/operations.ts";
import { listSkills } from "./skills/operations.ts";
import { cancelSubAgent, listSubAgents, showSubAgent, type SubAgentReadingNeeds } from "./sub-agents/operations.ts";
import {
  addTask,
  listTasks,
  pauseTask,
  removeTask,
  resumeTask,
  runTask,
  taskHistory,
  type TaskReadingNeeds,
} from "./tasks/operations.ts";
import { listTurns, retryTurn, showTurn, type TurnReadingNeeds } from "./turns/operations.ts";
import { listCosts, usage, type UsageNeeds } from "./usage/operations.ts";
import { listWebhooks, testWebhook } from "./webhooks/operations.ts";
import { addWork, dropWork, listWork } from "./work/operations.ts";

/** Every operation, the only place that names all of them. */
export const operations = [
  readStatus,
  stop,
  applyConfig,
  diffConfig,
  getSetting,
  editSettings,
  configHistory,
  listGroups,
  showGroup,
  setGroup,
  addGroup,
  removeGroup,
  listChats,
  approveRequest,
  denyRequest,
  forgetRequest,
  listPairings,
  approvePairing,
  listPeople,
  lookAtPerson,
  erasePerson,
  listFolderOrigins,
  clearFolderOrigins,
  listSessions,
  stopSession,
  showContext,
  listTurns,
  showTurn,
  retryTurn,
  listApprovals,
  showApproval,
  answerApproval,
  revokeApproval,
  listTasks,
  addTask,
  pauseTask,
  resumeTask,
  removeTask,
  runTask,
  taskHistory,
  listWork,
  addWork,
  dropWork,
  listJobs,
  stopJob,
  listSubAgents,
  showSubAgent,
  cancelSubAgent,
  listWebhooks,
  testWebhook,
  listMemories,
  showMemory,
  forgetMemory,
  listSkills,
  listMcpServers,
  testMcpServer,
  allowMcpTool,
  listModels,
  forgetModels,
  usage,
  listCosts,
  listImages,
  buildImages,
  pruneImages,
  listOutbox,
  retryOutbox,
  send,
  tailEvents,
  listChannels,
  loginChannel,
] as const;

type Defined = (typeof operations)[number];
type Intersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (each: infer All) => void
  ? All
  : never;

/** The parts of a host that all operations together work with. */
export type OperationNeeds = Intersection<NeedsOf<Defined>>;

/** The parts of a stopped host that operations work with which look at what it has left. */
export type OfflineNeeds = ApprovalReadingNeeds &
  ContextNeeds &
  GroupReadingNeeds &
  ModelReadingNeeds &
  PeopleNeeds &
  SessionReadingNeeds &
  SubAgentReadingNeeds &
  TaskReadingNeeds &
  TurnReadingNeeds &
  UsageNeeds &
  NeedsOf<typeof configHistory> &
  NeedsOf<typeof listChats> &
  NeedsOf<typeof listJobs> &
  NeedsOf<typeof listOutbox> &
  NeedsOf<typeof listWork>;
