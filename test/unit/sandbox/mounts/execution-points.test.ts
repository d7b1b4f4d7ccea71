import { expect, test } from "vitest";

import {
  executionPointKind,
  executionPointKinds,
  repositoriesIn,
} from "../../../../src/sandbox/mounts/execution-points.ts";

const files = `
.git/hooks/pre-commit .git/config .git/info/attributes .git/rebase-merge/git-rebase-todo sub/.git deep/.GIT/config
.husky/pre-push .githooks/x lefthook.yml lefthook.yaml lefthook-local.yml .lefthook.toml .pre-commit-config.yaml
.gitattributes .gitmodules .gitconfig .gitignore .envrc mise.toml .mise.toml mise.local.toml .mise/config.toml
.tool-versions .nvmrc shell.nix .vscode/tasks.json .vscode/mcp.json .vscode/extensions.json app.code-workspace
.idea/workspace.xml .zed/settings.json .fleet/run.json .devcontainer/devcontainer.json .devcontainer.json .exrc .vimrc
.nvim.lua .dir-locals.el .editorconfig .clangd x.sublime-project .mcp.json .cursor/mcp.json .cursor/hooks.json
.cursorrules .claude/settings.json .claude/commands/x.md .claude/agents/y.md CLAUDE.md docs/claude.md CLAUDE.local.md
AGENTS.md GEMINI.md .gemini/settings.json .windsurfrules .clinerules .aider.conf.yml .github/copilot-instructions.md
.github/workflows/ci.yml .gitlab-ci.yml .circleci/config.yml Jenkinsfile azure-pipelines.yml .bashrc .bash_profile
.profile .zshrc .zshenv .inputrc .gdbinit .lldbinit sitecustomize.py usercustomize.py lib/evil.pth conftest.py .pylintrc
.pdbrc .npmrc .yarnrc.yml .yarn/releases/yarn.cjs .pnpmfile.cjs bunfig.toml pip.conf .cargo/config.toml .mvn/jvm.config
.mvn/extensions.xml .eslintrc.js eslint.config.mjs .prettierrc babel.config.js .rubocop.yml jest.config.ts
vitest.config.ts pytest.ini tox.ini noxfile.py .rspec Dockerfile api.Dockerfile docker-compose.yml compose.yaml
Vagrantfile Procfile Makefile GNUmakefile rules.mk justfile Justfile Taskfile.yml package.json pyproject.toml setup.py
requirements-dev.txt Cargo.toml build.rs build.gradle.kts gradlew pom.xml CMakeLists.txt Gemfile Rakefile x.gemspec
composer.json deno.json gulpfile.js webpack.config.js vite.config.ts next.config.mjs flake.nix App.csproj
Directory.Build.props .unknown .config/x .venv/bin/.hidden/../conftest.py
`
  .trim()
  .split(/\s+/);

test.each(files)("%s is an execution point", (path) => {
  expect(executionPointKinds).toContain(executionPointKind({ path }));
});

const work = `
README.md src/index.ts src/main.py docs/agents/guide.md package-lock.json src/config hooks/useThing.ts HEAD objects/x
.git/HEAD .git/index .git/refs/heads/config .git/logs/HEAD .git/objects/ab/config .git/hooks/pre-commit.sample
node_modules/a/.vscode/tasks.json node_modules/.bin/x .venv/lib/a.py .next/build.js src/envrc.ts my.environment
`
  .trim()
  .split(/\s+/);

test.each(work)("%s is ordinary work", (path) => {
  expect(executionPointKind({ path, isExecutable: path.startsWith("node_modules/") })).toBeUndefined();
});

test("any executable, script and link that leads out counts, whatever it is called", () => {
  const head = new TextEncoder().encode("#!/bin/sh");
  const kinds = [
    { path: "a/notes", isExecutable: true },
    { path: "a/notes", head },
    { path: "a/notes", linkTarget: "/etc/passwd" },
    { path: "a/notes", linkTarget: "../../x" },
    { path: "a/notes", linkTarget: "b/../../../x" },
    { path: "a/notes", linkTarget: "../b" },
    { path: "a/notes", isFolder: true, isExecutable: true },
    { path: "a/Makefile", isFolder: true },
    { path: ".vscode", isFolder: true },
  ].map((entry) => executionPointKind(entry));

  expect(kinds).toEqual(["executable", "script", "link", "link", "link", undefined, undefined, undefined, "editor"]);
});

test("a repository is known by its contents, whatever it is called and wherever it lies", () => {
  const ofBare = ["plain/HEAD", "plain/objects", "plain/refs", "plain/config", "plain/hooks/x"];
  const ofTop = ["HEAD", "objects", "refs", "config"];
  const ofLinked = ["w/HEAD", "w/commondir"];
  const noOthers = ["docs/HEAD", "x/objects", "x/refs", ".git/HEAD", ".git/objects", ".git/refs"];
  const repositories = repositoriesIn(new Set([...ofBare, ...ofTop, ...ofLinked, ...noOthers]));
  const kindOf = (path: string): string | undefined => executionPointKind({ path }, repositories);

  expect([...repositories].toSorted()).toEqual(["", "plain", "w"]);
  expect(["plain", "plain/config", "plain/hooks/x", "config", "w/commondir", "plain/objects/ab"].map(kindOf)).toEqual([
    "repository",
    "git-config",
    "git-hook",
    "git-config",
    "git-config",
    undefined,
  ]);
});
