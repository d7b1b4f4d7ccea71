import { expect, test } from "vitest";

import { scriptsIn } from "../../../../src/rights/policy/scripts-in.ts";

test("the files that a command runs are found by its literal words, in the folder that they are run from", async () => {
  const commands: readonly (readonly [command: string, ...scripts: string[]])[] = [
    ["ls -l x.sh"],
    ["sh x.sh", "x.sh"],
    ["bash -eux ./x.sh --flag", "x.sh"],
    ["bash -o pipefail x.sh", "x.sh"],
    ["/bin/bash 'my script.sh'", "my script.sh"],
    ["bash -c 'echo x.sh'"],
    ["bash -lc 'echo x.sh'"],
    ["./x", "x"],
    ["/workspace/group/x y", "/workspace/group/x"],
    ["tools/x.py a b", "tools/x.py"],
    ["python x.py", "x.py"],
    ["python3.12 -u -X dev x.py arg", "x.py"],
    ["python3 -m http.server"],
    ["python3 -c 'print(1)'"],
    ["node x.mjs", "x.mjs"],
    ["node --import ./hook.mjs x.mjs", "hook.mjs", "x.mjs"],
    ["node -e 'x'"],
    ["deno run -A x.ts", "x.ts"],
    ["perl x.pl", "x.pl"],
    ["ruby x.rb", "x.rb"],
    ["awk '{ print $1 }' data"],
    ["php -f x.php", "x.php"],
    ["bash < x", "x"],
    ["python3 - < x", "x"],
    ["cat x | bash", "x"],
    ["cat x y | sudo cat"],
    [". x.sh", "x.sh"],
    ["source env/activate", "env/activate"],
    ["cd app && ./x.sh", "app/x.sh"],
    ["cd /a/b; cd ../c; sh x.sh", "/a/c/x.sh"],
    ["cd $dir && ./x.sh"],
    ["cd $dir && /a/x.sh", "/a/x.sh"],
    ["timeout 5 ./x.sh", "x.sh"],
    ["env A=b nohup sh x.sh", "x.sh"],
    ["exec ./x.sh", "x.sh"],
    ["make && sh a.sh || ./b.sh; python c.py | tee log", "a.sh", "b.sh", "c.py"],
    ["if true; then sh x.sh; fi", "x.sh"],
    ["(sh x.sh)", "x.sh"],
    ["echo $(sh x.sh)", "x.sh"],
    ["sh $x"],
    ["sh *.sh"],
  ];
  for (const [command, ...scripts] of commands)
    expect([command, (await scriptsIn(command)).toSorted()]).toEqual([command, scripts]);
});
