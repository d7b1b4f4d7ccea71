import { describe, expect, test } from "vitest";

import { parseCommand } from "../../../src/intake/command.ts";

describe("a chat command", () => {
  test.each([
    ["/stop", "stop"],
    ["/new", "new"],
    ["/status", "status"],
    ["  /STOP \n", "stop"],
    ["@crab /stop", "stop"],
    ["@Crab: /new", "new"],
    ["@crab, /status", "status"],
    ["@crab\n/new", "new"],
  ])("is recognised in %j", (text, command) => {
    expect(parseCommand(text, "crab")).toBe(command);
  });

  test.each([
    "stop",
    "/stop now",
    "please /stop",
    "/stopp",
    "／stop",
    "//stop",
    "`/stop`",
    "> /stop",
    "/stop @crab",
    "@crabby /stop",
    "hey @crab /stop",
    "@crab",
    "",
  ])("is not made of %j", (text) => {
    expect(parseCommand(text, "crab")).toBeUndefined();
  });
});
