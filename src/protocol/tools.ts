import * as z from "zod";

/**
 * The tools that the model sees, defined once: the host offers them to the model and checks policy by name, the agent
 * parses inputs with the same schemas and runs them.
 */
export const toolInputs = {
  shell: z.strictObject({
    command: z
      .string()
      .min(1)
      .describe("Command line for bash. Working directory and environment stay from call to call."),
    timeout_s: z.number().positive().max(3600).optional().describe("Seconds until it is killed. Default 120."),
  }),
  read_file: z.strictObject({
    path: z.string().min(1).describe("File to read."),
    offset: z.number().int().min(1).optional().describe("First line to read, counted from 1."),
    limit: z.number().int().min(1).max(10_000).optional().describe("How many lines. Default 2000."),
  }),
  write_file: z.strictObject({
    path: z.string().min(1).describe("File to write; folders are made as needed."),
    content: z.string().describe("The whole new content."),
  }),
  edit_file: z.strictObject({
    path: z.string().min(1).describe("File to change."),
    old_text: z.string().min(1).describe("Text that stands in the file exactly once."),
    new_text: z.string().describe("What to put in its place."),
    replace_all: z.boolean().optional().describe("Replace each occurrence instead of demanding exactly one."),
  }),
  list_files: z.strictObject({
    path: z.string().min(1).optional().describe("Folder to list. Default: the working directory."),
    depth: z.number().int().min(1).max(8).optional().describe("How deep. Default 2."),
  }),
  search_files: z.strictObject({
    pattern: z.string().min(1).describe("Regular expression in ripgrep's syntax."),
    path: z.string().min(1).optional().describe("Folder or file to search. Default: the working directory."),
    glob: z.string().min(1).optional().describe("Only files that match, such as *.ts."),
  }),
  send_message: z.strictObject({
    text: z.string().min(1).max(64_000).describe("Text to send to the chat now, before the turn ends."),
  }),
  send_file: z.strictObject({
    path: z.string().min(1).max(4_096).describe("File below /workspace/group, at most 64 MB."),
    caption: z.string().max(4_000).optional().describe("Text that goes with it."),
  }),
  react: z.strictObject({
    emoji: z.string().min(1).max(64).describe("One emoji, put on the message that you are answering."),
  }),
} as const;

export type ToolName = keyof typeof toolInputs;

const descriptions: Record<ToolName, string> = {
  shell:
    "Run a command in the session's persistent bash. Returns output and exit code. Long-running programs belong in the background (&), with their output sent to a file.",
  read_file: "Read a text file, with line numbers.",
  write_file: "Write a file, replacing what was there.",
  edit_file: "Replace text in a file. Fails unless the old text occurs exactly once, or replace_all is set.",
  list_files: "List files and folders below a folder.",
  search_files: "Search file contents with ripgrep.",
  send_message:
    "Send a message to the chat before the turn ends, for example progress on long work. The final answer needs no tool.",
  send_file:
    "Send a file to the chat, as it is now. People cannot look into your folders: what they should get is sent.",
  react: "Put an emoji on the last message that was for you. Not all chats have that.",
};

/** Definitions in the vendors' tool format, in a fixed order so that prompts stay cacheable. */
export const toolDefinitions: readonly { name: ToolName; description: string; inputSchema: Record<string, unknown> }[] =
  (Object.keys(toolInputs) as ToolName[]).map((name) => {
    const { $schema: _dialect, ...inputSchema } = z.toJSONSchema(toolInputs[name]) as Record<string, unknown>;
    return { name, description: descriptions[name], inputSchema };
  });
