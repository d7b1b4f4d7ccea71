import { expect, test } from "vitest";

import { isLiteralCommand } from "../../../../src/rights/policy/shell/judge-command.ts";

test("a command is literal when each of its words is what it says", async () => {
  for (const command of [
    "git push",
    "git push origin main && echo done",
    "cat 'a b' \"c d\" e\\ f | sort -r; ls || true",
    "make > build.log 2>&1 &",
    "echo $'a\\tb'",
    "echo \\$HOME '$HOME' '*'",
  ])
    expect([command, await isLiteralCommand(command)]).toEqual([command, true]);
});

test("a command with an expansion, a pattern, a substitution, a function or a compound is not literal", async () => {
  for (const command of [
    "",
    "# nothing",
    "rm -r $x",
    'rm "$x"',
    "rm ${x:-y}",
    "rm $(cat list)",
    "rm `cat list`",
    "rm *.txt",
    "rm a?",
    "rm [ab]",
    "rm a{b,c}",
    "rm ~/x",
    "FOO=bar make",
    "FOO=$x make",
    "FOO=~/x make",
    "a[0]=$x ls",
    "x=(a b) ls",
    "cat <(ls)",
    "cat < $x",
    "cat <<E\n$x\nE",
    "echo $((1+1))",
    "for f in a; do rm a; done",
    "if true; then rm a; fi",
    "(rm a)",
    "{ rm a; }",
    "f() { rm a; }; f",
    "[[ -e a ]] && rm a",
    "((x)) && rm a",
    "rm 'a",
    "! grep x y",
    "cat <<< hello",
    "echo $'a\\x20b'",
    "echo $?",
    "ls {x}> f",
    "rm a\u00a0b",
    "rm a )",
    `rm ${"x".repeat(5_000)}`,
  ])
    expect([command, await isLiteralCommand(command)]).toEqual([command, false]);
});
