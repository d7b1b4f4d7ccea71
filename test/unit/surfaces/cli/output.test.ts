import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";

import { expect, test } from "vitest";

import { Output } from "../../../../src/surfaces/cli/output.ts";

test("a table is cut to the width of the terminal, by what characters take there", async () => {
  const stream = new PassThrough();
  const output = new Output({ stream, json: false, isTerminal: true, colors: false, width: 40 });
  const items = [
    { id: "0123456789", said: "what is the weather like in Lisbon today?" },
    { id: "abcdefghij", said: "今日の天気はどうですか、教えてください、お願いします" },
    { id: "short", said: "👩‍👩‍👧 hi" },
  ];

  output.items(
    items,
    [
      { title: "id", of: ({ id }) => id, shownChars: 8 },
      { title: "said", of: ({ said }) => said, fills: true },
    ],
    "none",
  );
  stream.end();

  const lines = (await text(stream)).split("\n").map((line) => line.trimEnd());
  expect(lines.slice(1, 4)).toEqual([
    "01234567  what is the weather like in…",
    "abcdefgh  今日の天気はどうですか、教…",
    "short     👩‍👩‍👧 hi",
  ]);
});
