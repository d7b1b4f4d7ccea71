import { describe, expect, test } from "vitest";

import { commandsOf } from "../../../../src/surfaces/chat/catalog.ts";
import { parseCommand } from "../../../../src/intake/addressing/command.ts";
import { someGroup } from "../../../support/some-group.ts";

const inGroup = (text: string) => parseCommand(text, "crab", commandsOf(someGroup("family")));
const inMain = (text: string) => parseCommand(text, "crab", commandsOf(someGroup("main", { main: true })));

describe("a chat command", () => {
  test.each([
    ["/stop", "stop"],
    ["/new", "new"],
    ["/status", "status"],
    ["/help", "help"],
    ["  /STOP \n", "stop"],
    ["@crab /stop", "stop"],
    ["@Crab: /new", "new"],
    ["@crab, /status", "status"],
    ["@crab\n/new", "new"],
  ])("is recognised in %j", (text, command) => {
    expect(inGroup(text)).toEqual({ command });
  });

  test.each([
    ["/staus", "staus"],
    ["/stopp", "stopp"],
    ["@crab /Hlep", "Hlep"],
    ["/stop!", "stop"],
    ["/stop now", "stop"],
    ["/status now please", "status"],
  ])("that is probably meant by %j is looked up by the host", (text, argument) => {
    expect(inGroup(text)).toEqual({ command: "help", argument });
  });

  test.each([
    "stop",
    "please /stop",
    "／stop",
    "//stop",
    "`/stop`",
    "> /stop",
    "@crabby /stop",
    "hey @crab /stop",
    "/deploy the site",
    "/home/ann is full",
    "/stop\nand more",
    "/",
    "@crab",
    "",
  ])("is not made of %j", (text) => {
    expect(inGroup(text)).toBeUndefined();
  });

  test("with a code takes the text after it", () => {
    expect(inGroup("/deny K7Q2M not now")).toEqual({ command: "deny", argument: "K7Q2M not now" });
    expect(inMain("/approve K7Q2M family")).toEqual({ command: "approve", argument: "K7Q2M family" });
    expect(inMain("@crab /DENY k7q2m")).toEqual({ command: "deny", argument: "k7q2m" });
    expect(inMain("/approve")).toEqual({ command: "approve", argument: "" });
    expect(inMain("/aprove K7Q2M")).toEqual({ command: "help", argument: "aprove" });
  });
});
