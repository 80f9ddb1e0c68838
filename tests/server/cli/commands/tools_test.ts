// `quern launch`, `completions` and `service`: what is started with which variables, what a shell
// completes, and the files that a system starts the server by.

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { service } from "../../../../server/cli/commands/service.ts";
import { FakeTerminal } from "../fake_terminal.ts";
import { refusal, type Route, runCommand } from "./fake_api.ts";

interface Spawned {
  program: string;
  args: string[];
  variables: Record<string, string>;
}

/** Notes what is started; each ends with this code. */
function fakeSpawn(code = 0) {
  const spawned: Spawned[] = [];
  const spawn = (program: string, args: string[], variables: Record<string, string>) => {
    spawned.push({ program, args, variables });
    return Promise.resolve(code);
  };
  return { spawned, spawn };
}

const tags = (...names: string[]): Route => () =>
  Response.json({ models: names.map((name) => ({ name, capabilities: ["completion"] })) });

const show = (context: number): Route => () =>
  Response.json({ model_info: { "general.architecture": "x", "x.context_length": context } });

Deno.test("launch starts a tool with the server's address, its key and the model", async () => {
  const { spawned, spawn } = fakeSpawn(3);
  const { code, terminal } = await runCommand(
    ["launch", "claude", "--model", "qwen3:8b", "--", "--print", "Hi"],
    { "GET /api/tags": tags("qwen3:8b"), "POST /api/show": show(40_960) },
    { spawn, environment: { QUERN_API_KEY: "secret", OLLAMA_HOST: "0.0.0.0:8080" } },
  );
  assertEquals([code, terminal.errors, terminal.listeners], [3, "", 0]);
  const { program, args, variables } = spawned[0]!;
  assertEquals([program, ...args], ["claude", "--model", "qwen3:8b", "--print", "Hi"]);
  assertEquals(variables.ANTHROPIC_BASE_URL, "http://127.0.0.1:8080");
  assertEquals([variables.ANTHROPIC_AUTH_TOKEN, variables.ANTHROPIC_API_KEY], ["secret", ""]);
  assertEquals(variables.ANTHROPIC_DEFAULT_HAIKU_MODEL, "qwen3:8b");
  assertEquals(variables.CLAUDE_CODE_SUBAGENT_MODEL, "qwen3:8b");
  assertEquals(variables.CLAUDE_CODE_TOTAL_TOKENS_REMINDER, "off");
  // Claude Code takes no window to compact in below 100,000 tokens.
  assertEquals(variables.CLAUDE_CODE_MAX_CONTEXT_TOKENS, "40960");
  assertEquals(variables.CLAUDE_CODE_AUTO_COMPACT_WINDOW, undefined);
});

Deno.test("launch tells a tool the window that a request gets, not the trained one", async () => {
  const routes = {
    "GET /api/tags": tags("other:latest", "qwen3:8b"),
    "POST /api/show": show(131_072),
    "GET /v1/models/qwen3%3A8b": () => Response.json({ meta: { n_ctx: 100_000 } }),
  };
  const { spawned, spawn } = fakeSpawn();
  for (const tool of ["claude", "codex"]) {
    await runCommand(["launch", tool, "--model", "qwen3:8b"], routes, { spawn });
  }
  const { variables } = spawned[0]!;
  assertEquals(
    [
      variables.CLAUDE_CODE_MAX_CONTEXT_TOKENS,
      variables.CLAUDE_CODE_AUTO_COMPACT_WINDOW,
      variables.CLAUDE_CODE_MAX_OUTPUT_TOKENS,
    ],
    ["100000", "100000", "25000"],
  );
  assertEquals(spawned[1]!.args.slice(0, 4), [
    "--config",
    "model_context_window=100000",
    "--config",
    "model_auto_compact_token_limit=80000",
  ]);
});

Deno.test("launch takes the only model, and says that its window is small", async () => {
  const { spawned, spawn } = fakeSpawn();
  const { terminal } = await runCommand(["launch", "opencode"], {
    "GET /api/tags": tags("tiny:latest"),
    "POST /api/show": show(2048),
  }, { spawn });
  assertStringIncludes(terminal.errors, "Warning: tiny:latest has room for 2048 tokens");
  const settings = JSON.parse(spawned[0]!.variables.OPENCODE_CONFIG_CONTENT!);
  assertEquals(settings.model, "quern/tiny:latest");
  assertEquals(settings.provider.quern.options, { baseURL: "http://127.0.0.1:11434/v1" });
  assertEquals(settings.provider.quern.models["tiny:latest"].limit, { context: 2048, output: 512 });
});

Deno.test("launch asks for one of several models at a terminal, elsewhere it wants a name", async () => {
  const routes = { "GET /api/tags": tags("a:1", "b:2"), "POST /api/show": show(65_536) };
  const terminal = new FakeTerminal(["2"], true);
  terminal.stdoutIsTerminal = true;
  const { spawned, spawn } = fakeSpawn();
  await runCommand(["launch", "codex"], routes, { spawn, terminal });
  assertEquals(spawned[0]!.args.slice(4), [
    "--oss",
    "--local-provider",
    "ollama",
    "--model",
    "b:2",
  ]);
  const refused = await runCommand(["launch", "codex"], routes, { spawn });
  assertEquals([refused.code, refused.terminal.errors], [
    1,
    "Error: Cannot choose a model: there are 2; name one with --model, such as a:1\n",
  ]);
});

Deno.test("launch --print starts nothing and prints what a shell understands", async () => {
  const { spawned, spawn } = fakeSpawn();
  const { terminal } = await runCommand(
    ["launch", "codex", "--model", "m", "--print", "--", "exec", "it's"],
    { "GET /api/tags": tags("other:latest", "m:latest"), "POST /api/show": show(65_536) },
    { spawn, environment: { QUERN_API_KEY: "k" } },
  );
  assertEquals(spawned, []);
  const lines = terminal.output.split("\n");
  assert(lines.includes("export OPENAI_API_KEY=k"));
  assertMatch(
    terminal.output,
    /model_providers\.quern\.base_url="http:\/\/127\.0\.0\.1:11434\/v1"'/,
  );
  // With its tag, as it is listed.
  assertMatch(terminal.output, / --model m:latest exec 'it'\\''s'\n$/);
});

Deno.test("launch says what is missing: the program, the model, a tool of that name", async () => {
  const missing = await runCommand(["launch", "aider", "--model", "m"], {
    "GET /api/tags": tags("m"),
    "POST /api/show": show(65_536),
  }, { spawn: () => Promise.reject(new Deno.errors.NotFound()) });
  assertStringIncludes(missing.terminal.errors, "Cannot launch Aider: there is no program aider");
  assertStringIncludes(missing.terminal.errors, "install it with `pip install aider-install");
  const unknown = await runCommand(["launch", "qwen", "--model", "nope"], {
    "GET /api/tags": tags(),
    "POST /api/show": () => refusal(404, "model 'nope' not found"),
  });
  assertStringIncludes(unknown.terminal.errors, "'nope' not found; get it with `quern pull nope`");
  const tool = await runCommand(["launch", "clade"], {});
  assertMatch(tool.terminal.errors, /Allowed choices are claude, codex, opencode/);
});

/** What bash completes a line to, where these models are here. */
async function completedByBash(script: string, line: string): Promise<string[]> {
  const program = `quern() { printf 'NAME ID\\ngemma3:1b x\\ngemma3:4b y\\nqwen3 z\\n'; }
${script}
COMP_LINE="$1" COMP_POINT=\${#1}
read -ra COMP_WORDS <<< "\${1//:/ : }"
case "$1" in *" ") COMP_WORDS+=("") ;; esac
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_quern
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = await new Deno.Command("bash", {
    args: ["--norc", "-c", program, "bash", line],
  }).output();
  assertEquals(new TextDecoder().decode(stderr), "");
  return new TextDecoder().decode(stdout).trim().split("\n");
}

Deno.test({
  name: "bash completes commands, options, their choices and names of models with colons",
  ignore: Deno.build.os === "windows",
  async fn() {
    const { terminal: { output } } = await runCommand(["completions", "bash"], {});
    const lines: [line: string, completions: string[]][] = [
      ["quern se", ["serve", "service"]],
      ["quern run ", ["gemma3:1b", "gemma3:4b", "qwen3"]],
      ["quern run gemma3:", ["1b", "4b"]],
      ["quern run gemma3:4", ["4b"]],
      ["quern run --hid", ["--hidethinking"]],
      ["quern bench --format ", ["table", "markdown", "json"]],
      ["quern run --format ", [""]],
      ["quern launch co", ["codex", "copilot"]],
      ["quern launch --model q", ["qwen3"]],
      ["quern service i", ["install"]],
    ];
    for (const [line, completions] of lines) {
      assertEquals(await completedByBash(output, line), completions, line);
    }
  },
});

/** What a shell writes for a program; undefined where there is no such shell. */
async function runShell(shell: string, args: string[]): Promise<string | undefined> {
  try {
    const { code, stdout, stderr } = await new Deno.Command(shell, { args }).output();
    assertEquals([code, new TextDecoder().decode(stderr)], [0, ""], shell);
    return new TextDecoder().decode(stdout);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** The name of a test that needs a shell, and whether it is ignored for want of it. */
const needs = async (shell: string, name: string) => {
  const isHere = await runShell(shell, ["-c", "true"]) !== undefined;
  return { name: isHere ? name : `${name}: there is no ${shell}`, ignore: !isHere };
};

Deno.test({
  ...await needs("zsh", "zsh reads its script, and completes commands by it"),
  async fn() {
    const { terminal: { output } } = await runCommand(["completions", "zsh"], {});
    // Completion itself needs a terminal: what the script offers is noted in its place.
    const program = `compdef() { : }
_describe() { print -l -- \${(P)2} }
_arguments() { print -l -- "$@" }
${output}
CURRENT=2 words=(quern r) _quern
CURRENT=3 words=(quern launch c) _quern`;
    const offered = await runShell("zsh", ["-f", "-c", program]);
    assertStringIncludes(offered!, "\nrun:answer a prompt, or talk with a model\n");
    assertStringIncludes(offered!, "\n--model[model that it talks to");
    assertStringIncludes(offered!, "(claude codex opencode");
  },
});

Deno.test({
  ...await needs("fish", "fish completes commands, options, their choices and names of models"),
  async fn() {
    const { terminal: { output } } = await runCommand(["completions", "fish"], {});
    const quern = "function quern; printf 'NAME ID\\ngemma3:1b x\\nqwen3 z\\n'; end";
    const lines: [line: string, completions: string[]][] = [
      ["quern se", ["serve", "service"]],
      ["quern show ", ["gemma3:1b", "qwen3"]],
      ["quern run --hid", ["--hidethinking"]],
      ["quern launch co", ["codex", "copilot"]],
      ["quern launch --model q", ["qwen3"]],
    ];
    for (const [line, completions] of lines) {
      const program = `${quern}\n${output}\ncomplete -C "${line}"`;
      const completed = await runShell("fish", ["--no-config", "-c", program]);
      const words = completed!.trim().split("\n").map((one) => one.split("\t")[0]);
      assertEquals(words, completions, line);
    }
  },
});

Deno.test("scripts of zsh and fish name each command and option once or more, and no hidden one", async () => {
  for (const shell of ["zsh", "fish"]) {
    const { terminal: { output } } = await runCommand(["completions", shell], {});
    for (const word of ["launch", "hidethinking", "nowordwrap", "modelfile", "quern list"]) {
      assertStringIncludes(output, word, shell);
    }
    assert(!output.includes("model-process"), shell);
  }
});

Deno.test("service install writes a file for its owner alone, and tells the system", async () => {
  const home = await Deno.makeTempDir();
  try {
    for (const [system, path, told] of SYSTEMS) {
      const { spawned, spawn } = fakeSpawn();
      const terminal = new FakeTerminal();
      const environment = { HOME: home, OLLAMA_HOST: "0.0.0.0", QUERN_API_KEY: 'a "b" <c> 5%' };
      const world = { terminal, environment, spawn, ...nothing };
      assertEquals(await service(world, "install", {}, system), 0);
      const text = await Deno.readTextFile(`${home}/${path}`);
      assertStringIncludes(text, "serve");
      assertStringIncludes(
        text,
        system === "linux"
          ? 'Environment="QUERN_API_KEY=a \\"b\\" <c> 5%%"'
          : '<key>QUERN_API_KEY</key><string>a "b" &lt;c&gt; 5%</string>',
      );
      if (Deno.build.os !== "windows") {
        assertEquals((await Deno.stat(`${home}/${path}`)).mode! & 0o777, 0o600);
      }
      assertEquals(spawned.at(-1)!.program, told);
      assertEquals(await service(world, "uninstall", {}, system), 0);
      await assertGone(`${home}/${path}`);
    }
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});

const SYSTEMS = [
  ["linux", ".config/systemd/user/quern.service", "systemctl"],
  ["darwin", "Library/LaunchAgents/org.quern.serve.plist", "launchctl"],
] as const;

/** What no service needs. */
const nothing = {
  open: () => Promise.reject(new Error("not reached")),
  inspect: () => Promise.reject(new Error("not reached")),
  fetch: globalThis.fetch,
};

async function assertGone(path: string): Promise<void> {
  assertEquals(await Deno.stat(path).then(() => "there", () => "gone"), "gone");
}

Deno.test("service says what a system lacks", async () => {
  const terminal = new FakeTerminal();
  const cases: [system: string, environment: Record<string, string>, message: RegExp][] = [
    ["windows", { HOME: "/h" }, /windows has neither systemd nor launchd/],
    ["linux", {}, /HOME is not set/],
  ];
  for (const [system, environment, message] of cases) {
    const world = { terminal, environment, ...nothing };
    const error = await service(world, "install", {}, system).then(() => undefined, String);
    assertMatch(error ?? "", message);
  }
  const refused = await runCommand(["service", "uninstall"], {}, {
    environment: { HOME: "/nowhere" },
    ...fakeSpawn(5),
  });
  if (Deno.build.os === "linux") {
    assertStringIncludes(
      refused.terminal.errors,
      "systemctl --user disable --now quern.service` ended with 5",
    );
  }
});
