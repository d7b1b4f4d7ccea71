import { join } from "node:path";

import SQLite from "better-sqlite3";
import { expect, test } from "vitest";

import { GroupMemory } from "../../../../src/abilities/memory/group-memory.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

function open(folder: string): GroupMemory {
  return new GroupMemory({ path: join(folder, "family.sqlite"), weights: { vector: 0.5, text: 0.5, neighbour: 0.3 } });
}

function add(memory: GroupMemory, texts: Readonly<Record<string, string>>): void {
  const rest = { category: "conversation", sender: "Ann", origin: "member", sources: [], photo: "a dog" } as const;
  // Far apart, so that none is found as the neighbour of another.
  memory.add(Object.entries(texts).map(([id, text], at) => ({ id, text, time: at * 86_400_000, ...rest })));
}

async function ids(memory: GroupMemory, query: string): Promise<string[]> {
  return (await memory.search(query, { limit: 10 })).map((found) => found.memory.id);
}

const inOtherWords = [
  ["traditional Chinese by simplified", "小明把鑰匙藏在電視後面", "电视后面有什么"],
  ["simplified Chinese by traditional", "我们后天去台湾的医院体检", "醫院的體檢是什麼時候"],
  ["a Korean noun by another case", "민수는 커피를 좋아해요", "커피가 뭐예요"],
  ["a Thai word in a sentence", "แม่ซื้อกุญแจบ้านใหม่เมื่อวาน", "กุญแจ"],
] as const;

test.each(inOtherWords)("%s is found", async (_, text, query) => {
  await using folder = await temporaryFolder();
  await using memory = open(folder.path);
  add(memory, { other: "会议很短 그리고 끝 และจบ", wanted: text });

  expect(await ids(memory, query)).toEqual(["wanted"]);
});

test("in a file of an earlier version all of these are found, too, after it was brought up to date", async () => {
  await using folder = await temporaryFolder();
  await using memory = open(folder.path);
  add(memory, Object.fromEntries(inOtherWords));
  await memory[Symbol.asyncDispose]();
  const file = new SQLite(join(folder.path, "family.sqlite"));
  // As it was: words of letters whole, traditional characters as they are.
  file.exec(
    `update items set terms = 'dog ' || text; insert into keywords (keywords) values ('rebuild'); pragma user_version = 3`,
  );
  file.close();

  await using upgraded = open(folder.path);

  for (const [name, , query] of inOtherWords) expect(await ids(upgraded, query)).toContain(name);
  expect(await ids(upgraded, "dog")).toHaveLength(inOtherWords.length);
});
