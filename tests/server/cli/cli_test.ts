// The command line: arguments, help, exit codes, and `run` with fake models in the same process, on a
// temporary folder of models. The other commands are tested in commands/, the REPL in repl/.

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { ChatModel, LoadOptions, ModelSource } from "../../../engine/mod.ts";
import { main } from "../../../server/cli/main.ts";
import { writeTinyLlama } from "../../tiny_model.ts";
import { fakeFetch } from "./commands/fake_api.ts";
import { fakeInfo, FakeModel, says, saysForever, type Script } from "../fake_model.ts";
import { FakeTerminal } from "./fake_terminal.ts";
import { until } from "../../until.ts";

interface CliRun {
  code: number;
  terminal: FakeTerminal;
  models: FakeModel[];
  loads: { source: ModelSource; options: LoadOptions }[];
}

interface CliOptions {
  terminal?: FakeTerminal;
  script?: Script;
  hasChatTemplate?: boolean;
  /** Default: nothing listens. */
  fetch?: typeof globalThis.fetch;
}

/** Runs a command in a world with the models `tiny` and `sub/b`; arguments may say MODELS. */
async function runCli(args: string[], options: CliOptions = {}): Promise<CliRun> {
  const { terminal = new FakeTerminal(), script = says("Hel", "lo") } = options;
  const folder = await Deno.makeTempDir();
  const models: FakeModel[] = [];
  const loads: CliRun["loads"] = [];
  const info = { ...fakeInfo, hasChatTemplate: options.hasChatTemplate ?? true };
  try {
    await Deno.mkdir(`${folder}/sub`);
    await writeTinyLlama(`${folder}/tiny.gguf`);
    await Deno.copyFile(`${folder}/tiny.gguf`, `${folder}/sub/b.gguf`);
    const code = await main(args.map((arg) => arg.replace("MODELS", folder)), {
      open(source, loadOptions): Promise<ChatModel> {
        loads.push({ source, options: loadOptions });
        loadOptions.onProgress?.({ loaded: 50, total: 100 });
        loadOptions.onProgress?.({ loaded: 100, total: 100 });
        models.push(new FakeModel({ info, script }));
        return Promise.resolve(models.at(-1)!);
      },
      inspect: () => Promise.resolve(info),
      terminal,
      environment: { QUERN_MODELS: folder },
      fetch: options.fetch ?? (() => Promise.reject(new TypeError("connection refused"))),
    });
    return { code, terminal, models, loads };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("run answers a prompt through the chat template and closes the model", async () => {
  const values = { temperature: "0", seed: "7", "num-predict": "9", ctx: "64" };
  const flags = Object.entries(values).flatMap(([name, value]) => [`--${name}`, value]);
  const { code, terminal, models, loads } = await runCli(["run", "tiny", "Hi", "you", ...flags]);
  assertEquals([code, terminal.output, terminal.errors], [0, "Hello\n", ""]);
  const { kind, request } = models[0]!.requests[0]!;
  assertEquals([kind, request.temperature, request.seed, request.maxTokens], ["chat", 0, 7, 9]);
  assertEquals("messages" in request && request.messages, [{ role: "user", content: "Hi you" }]);
  assertEquals([loads[0]!.options.contextLength, loads[0]!.options.maxSequences], [64, 1]);
  assertEquals([models[0]!.closed, terminal.listeners], [true, 0]);
});

Deno.test("run takes the prompt from a pipe, and the model from a path", async () => {
  const terminal = new FakeTerminal(["Once upon\n", "a time\n"]);
  const { models, loads } = await runCli(["run", "MODELS/sub/b.gguf", "--raw"], { terminal });
  const { kind, request } = models[0]!.requests[0]!;
  assertEquals(kind, "generate");
  assertEquals("prompt" in request && request.prompt, "Once upon\na time");
  const [{ source }] = loads as [CliRun["loads"][0]];
  assert(source.kind === "files" && source.path.endsWith("/sub/b.gguf"));
});

Deno.test("an interrupt ends run with 130, after what was said and with the model closed", async () => {
  const terminal = new FakeTerminal();
  const running = runCli(["run", "tiny", "Hi"], { terminal, script: saysForever() });
  await until(() => terminal.output.includes("word"));
  terminal.interrupt();
  const { code, models } = await running;
  assertEquals([code, models[0]!.closed, terminal.listeners], [130, true, 0]);
});

Deno.test("run --verbose prints counts and rates, and a terminal shows the load", async () => {
  const terminal = new FakeTerminal();
  terminal.stderrIsTerminal = true;
  await runCli(["run", "tiny", "Hi", "--verbose"], { terminal });
  assertStringIncludes(terminal.errors, "loading:  50% ▕");
  assertMatch(terminal.errors, /prompt eval count: +11 token\(s\)/);
  assertMatch(terminal.errors, /\neval rate: +[\d.]+ tokens\/s\n/);
});

Deno.test("list reads the store where no server runs, and ps and stop say that there is none", async () => {
  const { code, terminal } = await runCli(["list"]);
  const [head, ...rows] = terminal.output.trimEnd().split("\n");
  assertEquals([code, rows.length], [0, 3]);
  assertMatch(rows[2]!, /^quern:tiny /);
  assertMatch(head!, /^NAME {12}ID {14}SIZE {6}MODIFIED$/);
  assertMatch(rows.sort()[2]!, /^tiny:latest {5}[0-9a-f]{12} {4}\d+ KB {4}(\d seconds? ago|Now)$/);
  for (const args of [["ps"], ["stop", "tiny"]]) {
    const { code, terminal } = await runCli(args);
    assertEquals([code, terminal.output], [1, ""]);
    const message = "Error: Cannot reach a server at http://127.0.0.1:11434: start one with";
    assertStringIncludes(terminal.errors, message);
  }
});

Deno.test("faults of the arguments have exit code 1 and a message that helps", async () => {
  const cases: [string[], string][] = [
    [["run"], "Error: missing required argument 'model'"],
    [["run", "tiny", "x", "--seed", "1.5"], "It must be an integer."],
    [["run", "tiny", "x", "--temperature", "hot"], "It must be a number."],
    [["run", "tiny", "x", "--think=much"], "It must be true, false, low, medium, high, max."],
    [["embed", "tiny", "x", "--truncate=some"], "It must be true or false."],
    [["show", "tiny", "--licence"], "(Did you mean --license?)"],
    [["pul", "x"], "Error: unknown command 'pul'\n(Did you mean pull?)\n`quern --help` lists"],
    [["cp", "a"], "Error: missing required argument 'destination'"],
  ];
  for (const [args, message] of cases) {
    const { code, terminal, models } = await runCli(args);
    assertEquals([code, terminal.output, models.length], [1, "", 0]);
    assertStringIncludes(terminal.errors, message);
  }
});

const COMMANDS = "serve run embed pull push create list show cp rm ps stop".split(" ");

Deno.test("help names every command and variable, and fits 80 columns", async () => {
  const helps = await Promise.all([["--help"], ...COMMANDS.map((name) => [name, "--help"])]
    .map(async (args) => ({ args, ...await runCli(args) })));
  for (const { args, code, terminal } of helps) {
    assertEquals([code, terminal.errors], [0, ""]);
    assertMatch(terminal.output, new RegExp(`^Usage: quern ${args.length > 1 ? args[0] : ""}`));
    const longest = Math.max(...terminal.output.split("\n").map((line) => line.length));
    assert(longest <= 80, `${args[0]}: ${longest} columns`);
  }
  for (const name of [...COMMANDS, "OLLAMA_HOST", "QUERN_API_KEY", "NO_COLOR"]) {
    assertMatch(helps[0]!.terminal.output, new RegExp(`^ {2}${name}\\b`, "m"));
  }
});

Deno.test("--version prints ours, and warns of a server that has another one, or of none", async () => {
  const cases: [typeof globalThis.fetch | undefined, RegExp][] = [
    [undefined, /^Warning: Cannot reach a server at http:\/\/127\.0\.0\.1:11434: .*\n$/],
    [
      fakeFetch({
        "GET /api/version": () => Response.json({ version: "0.34.0", quern_version: "9.9" }),
      }),
      /^Warning: the server at http:\/\/127\.0\.0\.1:11434 has version 9\.9\n$/,
    ],
    [
      fakeFetch({ "GET /api/version": () => Response.json({ version: "0.12" }) }),
      /^Warning: the server at http:\/\/127\.0\.0\.1:11434 is not Quern, version 0\.12\n$/,
    ],
  ];
  for (const [fetch, warning] of cases) {
    for (const flag of ["-v", "--version"]) {
      const { code, terminal } = await runCli([flag], fetch && { fetch });
      assertEquals(code, 0);
      assertMatch(terminal.output, /^quern version is \d+\.\d+\.\d+\n$/);
      assertMatch(terminal.errors, warning);
    }
  }
});

Deno.test("a reader that has gone ends a command with 0 and no word", async () => {
  const terminal = new FakeTerminal();
  terminal.write = () => {
    throw new Deno.errors.BrokenPipe("Broken pipe (os error 32)");
  };
  const { code, models } = await runCli(["run", "tiny", "Hi"], { terminal });
  assertEquals([code, terminal.errors, models[0]!.closed], [0, "", true]);
});
