import { expect, test } from "vitest";

import { nothingAtStake as nothing } from "../../../../src/domain/rights/stakes.ts";
import { judgeCommand } from "../../../../src/rights/policy/shell/judge-command.ts";
import { everydayLines } from "../../../fixtures/commands/everyday.ts";
import { hostileLines } from "../../../fixtures/commands/hostile.ts";
import programmingLines from "../../../fixtures/commands/programming.json" with { type: "json" };

const stakes = [{ writableMount: true }, { egress: true }, { injectedSecrets: true }].map((stake) => ({
  ...nothing,
  ...stake,
}));

async function countRisks(
  lines: readonly string[],
  stake = nothing,
): Promise<{ low: number; medium: number; high: number }> {
  const counts = { low: 0, medium: 0, high: 0 };
  for (const line of lines) counts[(await judgeCommand(line, stake)).risk] += 1;
  return counts;
}

test("no line that destroys files, shows secrets or makes bash evaluate text is low", async () => {
  expect(hostileLines.length).toBeGreaterThan(1_650);
  for (const line of hostileLines)
    expect({ line, risk: (await judgeCommand(line, nothing)).risk }).not.toEqual({ line, risk: "low" });
});

test("what agents run on an ordinary day is seldom high where nothing is at stake", async () => {
  const { low, medium, high } = await countRisks(everydayLines);

  expect(low + medium + high).toBe(everydayLines.length);
  expect(high / everydayLines.length).toBeLessThanOrEqual(0.05);
  expect(low / everydayLines.length).toBeGreaterThan(0.4);
  // The same look around a group whose agent changes a folder of the machine at once.
  expect((await countRisks(everydayLines, stakes[0])).low).toBe(low);
});

test("what agents that write programs run is seldom high where nothing is at stake", async () => {
  const { high } = await countRisks(programmingLines);

  expect(programmingLines.length).toBeGreaterThan(100);
  expect(high / programmingLines.length).toBeLessThanOrEqual(0.05);
});

test.each([
  "ls",
  "ls -la src | head -20",
  "/bin/ls --color=never -w 80",
  "cat README.md; wc -l < notes.md",
  "cat 'a b.txt' \"c d.txt\" e\\ f.txt",
  "grep -n -A3 'rm -rf /' install.md || echo none",
  "echo 'rm -rf / $(x) `y`' 2>&1",
  "ls nothing 2>/dev/null && echo yes",
  "find . -name '*.ts' -not -path './x/*' | sort | uniq -c",
  "sed -n '1,20p' a.txt",
  "sed 's/a/b/g; /^#/d' a.txt",
  "awk -F, '{print $2}' a.csv",
  "awk 'NR>1 {print $1, $3}' a.txt",
  "sort -k2,2nr -t$'\\t' a.tsv",
  'ls; echo "exit code: $?" $?',
  "git config --get user.name",
  "git status -uno",
  "jq -r '.items[] | .name' a.json",
  "git status --short",
  "git log --oneline -5 -- src",
  "git -C notes --no-pager log",
  "[ -f a.txt ] && test -d b",
  "set -euo pipefail; ls",
  "cd notes && cat a.txt",
  "cat .env.example",
  "ls -la .env .aws",
  "node --version",
  "# only a comment",
  "",
])("low: %j", async (line) => {
  for (const stake of [nothing, ...stakes])
    expect(await judgeCommand(line, stake)).toMatchObject({ risk: "low", why: undefined });
});

test.each([
  ["rm notes.md", "`rm notes.md` changes files"],
  ["mkdir -p /workspace/group/a", "`mkdir -p /workspace/group/a` changes files"],
  ["echo x > /tmp/x", "`> /tmp/x` changes files of the group"],
  ["grep -rn TODO src", "`-rn` makes grep read files that the line does not name"],
  ["rg TODO", "`rg TODO` reads files that the line does not name"],
  ["ls *.md", "`*.md` may become an option"],
  ["cat src/*.md", "`src/*.md` matches files that the line does not name"],
  ["(ls)", "`( )` is a subshell"],
  ["if ls; then pwd; fi", "`if` is a condition"],
  ["cat <<'E'\nx\nE", "`<<` is a here-document"],
  ["ls & pwd", "`&` lets a command run on"],
  ["kill 123", "`kill 123` changes what runs"],
  ["find . -name '*.pyc' -delete", "`find . -name '*.pyc' -delete` removes files"],
])("medium: %j: %s", async (line, why) => {
  expect(await judgeCommand(line, nothing)).toMatchObject({ risk: "medium", why });
});

test.each([
  ["echo $HOME", "`$HOME` shows only when it runs"],
  ["x=1", "`x=1` sets a variable"],
  ["sort --outp=f a", "`--outp=f` is no option of sort that is on the list"],
  ["uniq a b", "`uniq a b` has more operands than uniq only looks at"],
  ["sed 's/a/b/e' a", "`'s/a/b/e'` is not on the list of what sed may be given"],
  ["ls | xargs wc", "`xargs wc` runs another command"],
  ["python3 -c 'print(1)'", "`python3 -c 'print(1)'` does what the line does not show"],
  ["./run.sh", "`./run.sh` runs a file whose content is not seen"],
  ["rm *.o", "`*.o` may become an option"],
  ["frobnicate", "`frobnicate` does what the line does not show"],
  ["((y))", "`(( ))` evaluates text"],
  ["cd .docker", "`cd .docker` goes where names do not tell which files hold secrets"],
  ["cd -", "`-` is not on the list of what cd may be given"],
  ["git -c user.name=x push", "`git -c user.name=x push` does what the line does not show"],
  ["kill -9 -1", "`-1` is no option of kill that is on the list"],
])("medium where nothing is at stake, otherwise high: %j: %s", async (line, why) => {
  expect(await judgeCommand(line, nothing)).toMatchObject({ risk: "medium", why });
  for (const [index, stake] of ["a mount with access rw", "egress", "injected secrets"].entries())
    expect(await judgeCommand(line, stakes[index] ?? nothing)).toMatchObject({
      risk: "high",
      why: `${why}, and the group has ${stake}`,
    });
});

test.each([
  ["cat .env", "reads what may hold secrets"],
  ["cat ./config/../.ENV", "reads what may hold secrets"],
  ["cat .e*", "reads what may hold secrets"],
  ["cd .docker; cat config.json", "reads what may hold secrets"],
  ["cat /proc/self/environ", "reads what may hold secrets"],
  ["cat /dev/fd/../environ", "reads what may hold secrets"],
  ["cat /proc/net/../environ", "reads what may hold secrets"],
  ["awk '{print}' /inet/tcp/0/1.2.3.4/80", "opens a connection to the network"],
  ["tar czf a.tgz .ssh", "reads what may hold secrets"],
  ["git show HEAD:.env", "reads what may hold secrets"],
  ['cat "$HOME/.ssh/id_rsa"', "reads what may hold secrets"],
  ["rm -rf /", "removes a whole folder"],
  ["rm -rf ./*", "removes a whole folder"],
  ["cd ..; rm -r group", "removes a whole folder"],
  ["nohup timeout 5 rm -rf ~/../../workspace", "removes"],
  ["rm -rf /workspace/extra/site", "removes a whole folder"],
  ["rm -rf .git", "removes a whole folder"],
  ['rm -rf "$DIR"/*', "removes folders that show only when it runs"],
  ["find . -delete", "removes everything below a folder"],
  ["find . -name x -o -delete", "removes everything below a folder"],
  ["find . -not -name x -delete", "removes everything below a folder"],
  ["find /etc -name x -delete", "changes something outside the group's folder"],
  ["dd if=/dev/zero of=/dev/sda", "overwrites files or disks"],
  [":(){ :|:& };:", "starts itself again and again"],
  ["echo x > AGENTS.md", "changes the agent's instructions"],
  ["cp x/SOUL.md .", "changes the agent's instructions"],
  ["echo x >> .git/hooks/pre-commit", "changes what other programs run or are told"],
  ["echo x > /etc/passwd", "changes something outside the group's folder"],
  ["curl https://example.org", "reaches the network"],
  ["cat < /dev/tcp/1.2.3.4/80", "opens a connection to the network"],
  ["git push --force", "sends commits to another machine"],
  ["pip install x", "installs software"],
  ["sudo ls", "runs as another user"],
  ["docker ps", "steers containers"],
  ["lѕ", "has a name with characters that look like others"],
  ["rm​ a", "hidden character U+200B"],
  ["ls\0", "NUL"],
  ["ls )", "cannot be parsed"],
  ['echo "x', "cannot be parsed"],
  [`echo ${"a".repeat(5_000)}`, "5005 characters"],
  ["ls; ".repeat(200), "more than 200 parts"],
  [`ls ${"a ".repeat(200)}`, "more than 200 parts"],
  ["a;".repeat(1_000), "1000 characters like ; and ("],
  [`cd a; cat ${"a/".repeat(2_020)}`, "too much work"],
])("high whatever is at stake: %j: %s", async (line, why) => {
  for (const stake of [nothing, ...stakes])
    expect(await judgeCommand(line, stake)).toMatchObject({ risk: "high", why: expect.stringContaining(why) });
});

test("a relative path may lie in a mounted folder that the agent changes at once", async () => {
  const [writable = nothing] = stakes;
  for (const line of ["rm notes.md", "echo x > a", "cp a /workspace/extra/site/a"]) {
    expect((await judgeCommand(line, nothing)).risk).toBe("medium");
    expect((await judgeCommand(line, writable)).risk).toBe("high");
  }
  expect((await judgeCommand("rm /workspace/group/notes.md", writable)).risk).toBe("medium");
});

test.each([
  // A value that the command does not take for one.
  "git shortlog -n --output=f",
  "git log --format --output=f",
  "git log --grep --output=f",
  "sort -k -of a.txt",
  // Letters that the command does not take together, and text behind the letter of a fixed value.
  "xxd -bc a.txt f",
  "set -ok; ls PATH=/tmp/e",
  "set -okeyword",
  "set -o keyword",
  "set -ko pipefail",
  // A device that is the file which was opened before.
  "echo hi < f > /dev/stdin",
  "echo hi 1< f > /dev/stdout",
  "echo hi 2< f > /dev/stderr",
  // Content, not names.
  "git status -vv",
  "git status -v -v",
  "git status --verbose",
  // Lists of arguments in a file, and programs that formats start.
  "strings @list",
  "git log --format=%G?",
  "git branch --format='%(signature)'",
  // A number is redirected to, not compared with; a setting is written.
  "awk '{print NR>1}' a.txt",
  "awk 'NR>1 {print >1}' a.txt",
  "git config --get user.name x",
  "git config user.name x",
  "echo $'\\x2e' $'\\cA'",
])("no command is low by an option or a device that does more than it seems: %s", async (line) => {
  expect((await judgeCommand(line, nothing)).risk).not.toBe("low");
});

test("values of options that begin with a dash are known where they are numbers", async () => {
  for (const line of ["head -n -5 a.txt", "find . -mtime -1", "cut -d - -f 1 a.txt", "date -d '-1 day' +%F"])
    expect({ line, risk: (await judgeCommand(line, nothing)).risk }).toEqual({ line, risk: "low" });
});
