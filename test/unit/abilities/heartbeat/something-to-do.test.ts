import { expect, test } from "vitest";

import { saysSomethingToDo } from "../../../../src/abilities/heartbeat/something-to-do.ts";

test.each([
  "",
  " \n\t\r\n",
  "# Heartbeat\n\n## Every morning\n",
  "<!-- Write here what is to be done.\n- this -->\n",
  "# A\n<!-- open for ever\nlook at the mail",
  "- \n* [ ]\n-\n- [x]\n",
  "---\n***\n===\n",
  "\ufeff# A",
])("%j asks for nothing", (text) => {
  expect(saysSomethingToDo(text)).toBe(false);
});

test.each(["Look at the mail.", "# A\n- [ ] water the plants", "<!-- a -->b", "- x", "#no-heading", "1."])(
  "%j asks for something",
  (text) => {
    expect(saysSomethingToDo(text)).toBe(true);
  },
);
