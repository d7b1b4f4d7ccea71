import { Socket } from "node:net";

import { expect, test } from "vitest";

import { systemClock } from "../../../../src/lib/time/clock.ts";
import { createLoginCheck } from "../../../../src/surfaces/http/login.ts";

/** The verdict for `address` after others have guessed wrongly as often as a minute allows. */
function verdictAfter(guesses: (index: number) => string, address: string): string {
  const check = createLoginCheck("right", systemClock);
  for (let index = 0; index < 20; index += 1) check("Bearer wrong", guesses(index), new Socket());
  return check("Bearer right", address, new Socket()).verdict;
}

test.for([
  ["2001:db8:1:2::7", "2001:db8:1:2:ffff::1"],
  ["fe80::1%eth0", "fe80::2%eth0"],
  ["::ffff:10.0.0.1", "10.0.0.1"],
  ["2001:0db8:0001:0002:0:0:0:1", "2001:db8:1:2::1"],
  ["10.0.0.1", "10.0.0.1"],
] as const)("whoever guesses from %s is held up at %s too", ([guesser, other]) => {
  expect(verdictAfter(() => guesser, other)).toBe("blocked");
});

const everywhere = (index: number): string => `2001:db8:1:2:${index}::${index}`;

test("guesses from all over a /64 count together, those from elsewhere hold nobody up", () => {
  expect(verdictAfter(everywhere, "2001:db8:1:2::abcd")).toBe("blocked");
  expect(verdictAfter(everywhere, "2001:db8:1:3::1")).toBe("granted");
  expect(verdictAfter(() => "::ffff:10.0.0.1", "10.0.0.2")).toBe("granted");
  expect(verdictAfter(() => "::1", "127.0.0.1")).toBe("granted");
});
