// The command line with fake models and a fake terminal, on a temporary folder of models.

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { ModelClosedError, RequestError } from "../../engine/errors.ts";
import type { ChatModel, LoadOptions } from "../../engine/types.ts";
import { main } from "../../server/cli.ts";
import type { CliDependencies } from "../../server/commands/dependencies.ts";
import { failsAfter, fakeInfo, FakeModel, says, saysForever, type Script } from "./fake_model.ts";
import { FakeTerminal } from "./fake_terminal.ts";
import { until } from "./test_app.ts";

interface CliRun {
  code: number;
  terminal: FakeTerminal;
  models: FakeModel[];
  loads: { path: string; options: LoadOptions }[];
}

interface CliOptions {
  terminal?: FakeTerminal;
  script?: Script;
  hasChatTemplate?: boolean;
  environment?: Record<string, string>;
  dependencies?: Partial<CliDependencies>;
}

/** Runs a command in a world with the models `tiny` and `sub/b`. */
async function runCli(args: string[], options: CliOptions = {}): Promise<CliRun> {
  const { terminal = new FakeTerminal(), script = says("Hel", "lo"), environment } = options;
  const folder = await Deno.makeTempDir();
  const models: FakeModel[] = [];
  const loads: CliRun["loads"] = [];
  const info = { ...fakeInfo, hasChatTemplate: options.hasChatTemplate ?? true };
  try {
    await Deno.mkdir(`${folder}/sub`);
    await Deno.writeTextFile(`${folder}/tiny.gguf`, "abc");
    await Deno.writeTextFile(`${folder}/sub/b.gguf`, "x".repeat(1500));
    await Deno.utime(`${folder}/tiny.gguf`, Date.now() / 1000 - 7300, Date.now() / 1000 - 7300);
    const code = await main(args.map((arg) => arg.replace("MODELS", folder)), {
      open(path, loadOptions): Promise<ChatModel> {
        loads.push({ path: path.slice(folder.length + 1), options: loadOptions });
        loadOptions.onProgress?.({ loaded: 50, total: 100 });
        loadOptions.onProgress?.({ loaded: 100, total: 100 });
        models.push(new FakeModel({ info, script }));
        return Promise.resolve(models.at(-1)!);
      },
      inspect: () => Promise.resolve(info),
      terminal,
      environment: { QUERN_MODELS: folder, ...environment },
      fetch: globalThis.fetch,
      ...options.dependencies,
    });
    return { code, terminal, models, loads };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("run answers a prompt through the chat template and closes the model", async () => {
  const args = [
    "run",
    "tiny",
    "Hi",
    "--temperature",
    "0",
    "--seed",
    "-1",
    "--num-predict",
    "9",
    "--ctx",
    "64",
  ];
  const { code, terminal, models, loads } = await runCli(args);
  assertEquals([code, terminal.output, terminal.errors], [0, "Hello\n", ""]);
  const { kind, request: { signal: _, ...request } } = models[0]!.requests[0]!;
  assertEquals(kind, "chat");
  assertEquals<unknown>(request, {
    messages: [{ role: "user", content: "Hi" }],
    temperature: 0,
    seed: -1,
    maxTokens: 9,
  });
  assertEquals([loads[0]!.path, loads[0]!.options.contextLength], ["tiny.gguf", 64]);
  assertEquals([models[0]!.closed, terminal.listeners], [true, 0]);
});

Deno.test("run continues the prompt as it stands with --raw or without a template, an empty one too", async () => {
  const cases = [[["Once"], false, "Once"], [[""], false, ""], [["--raw", ""], true, ""]] as const;
  for (const [args, hasChatTemplate, prompt] of cases) {
    const { code, models } = await runCli(["run", "tiny", ...args], { hasChatTemplate });
    const { kind, request } = models[0]!.requests[0]!;
    assertEquals([code, kind, "prompt" in request && request.prompt], [0, "generate", prompt]);
  }
});

Deno.test("run takes the prompt from a pipe, and the model from a path", async () => {
  const terminal = new FakeTerminal(["Once upon\n", "a time\n"]);
  const args = ["run", "MODELS/sub/b.gguf"];
  const { models, loads } = await runCli(args, { terminal, hasChatTemplate: false });
  const { request } = models[0]!.requests[0]!;
  assertEquals("prompt" in request && request.prompt, "Once upon\na time");
  assertEquals(loads[0]!.path, "sub/b.gguf");
});

Deno.test("run refuses an embedding model before it loads", async () => {
  const inspect = () => Promise.resolve({ ...fakeInfo, isEmbeddingModel: true });
  const { code, terminal, loads } = await runCli(["run", "tiny", "Hi"], {
    dependencies: { inspect },
  });
  const message = 'Error: Cannot run "tiny": it is an embedding model, which gives no text\n';
  assertEquals([code, terminal.errors, loads.length], [1, message, 0]);
});

Deno.test("run at a terminal holds a conversation until /bye", async () => {
  const lines = ["One", "", "/?", "Two", "/clear", "Three", "/bye", "Four"];
  const { code, terminal, models } = await runCli(["run", "tiny"], {
    terminal: new FakeTerminal(lines, true),
  });
  const conversations = models[0]!.requests.map(({ request }) =>
    "messages" in request && request.messages.map(({ content }) => content)
  );
  assertEquals(conversations, [["One"], ["One", "Hello", "Two"], ["Three"]]);
  assertEquals([code, terminal.output], [0, "Hello\nHello\nHello\n"]);
  assert(models[0]!.closed);
});

Deno.test("a failing request does not end a conversation, a dead model does", async () => {
  const type = () => new FakeTerminal(["One", "Two", "/bye"], true);
  const failing = failsAfter([], new RequestError("too long"));
  const first = await runCli(["run", "tiny"], { terminal: type(), script: failing });
  assertEquals([first.code, first.models[0]!.requests.length], [0, 2]);
  assertEquals(first.terminal.errors, "Error: too long\nError: too long\n");
  const dying = failsAfter([], new ModelClosedError("the GPU is gone"));
  const second = await runCli(["run", "tiny"], { terminal: type(), script: dying });
  assertEquals([second.code, second.models[0]!.requests.length], [1, 1]);
});

Deno.test("an interrupt ends run with 130, after what was said and with the model closed", async () => {
  const terminal = new FakeTerminal();
  const running = runCli(["run", "tiny", "Hi"], { terminal, script: saysForever() });
  await until(() => terminal.output.includes("word"));
  terminal.interrupt();
  const { code, models } = await running;
  assertEquals([code, models[0]!.closed], [130, true]);
  assertMatch(terminal.output, /^(word )+\n$/);
});

Deno.test("run --verbose prints counts and rates, and a terminal shows the load", async () => {
  const terminal = new FakeTerminal();
  terminal.stderrIsTerminal = true;
  await runCli(["run", "tiny", "Hi", "--verbose"], { terminal });
  assertStringIncludes(terminal.errors, "loading 50% of 100 B");
  assertMatch(terminal.errors, /prompt eval count: +11 token\(s\), 4 cached\n/);
  assertMatch(terminal.errors, /prompt eval rate: +1000\.00 tokens\/s\n/);
  assertMatch(terminal.errors, /\neval rate: +100\.00 tokens\/s\n/);
});

Deno.test("list prints the models of the store", async () => {
  const { code, terminal } = await runCli(["list"]);
  assertEquals(code, 0);
  const [head, second, first, ...rest] = terminal.output.split("\n");
  assertEquals(rest, [""]);
  assertMatch(head!, /^NAME {12}ID {14}SIZE {6}MODIFIED$/);
  assertMatch(first!, /^tiny:latest {5}ba7816bf8f01 {4}3 B {7}2 hours ago$/);
  assertMatch(second!, /^sub\/b:latest {4}[0-9a-f]{12} {4}1\.5 KB {4}(\d seconds? ago|Now)$/);
  const filtered = await runCli(["ls", "TI"]);
  assertEquals(filtered.terminal.output.split("\n").length, 3);
});

Deno.test("ps prints what the server at OLLAMA_HOST has loaded", async () => {
  const asked: string[] = [];
  const fetch = (url: string | URL | Request) => {
    asked.push(String(url));
    const expires_at = new Date(Date.now() + 250_000).toISOString();
    const model = {
      name: "tiny:latest",
      digest: "0123456789abcdef",
      size: 1.94e9,
      context_length: 4096,
      expires_at,
    };
    const forever = { ...model, expires_at: "2400-01-01T00:00:00Z" };
    return Promise.resolve(Response.json({ models: [model, forever] }));
  };
  const environment = { OLLAMA_HOST: "box:99" };
  const { code, terminal } = await runCli(["ps"], { environment, dependencies: { fetch } });
  assertEquals([code, asked], [0, ["http://box:99/api/ps"]]);
  const [head, first, second] = terminal.output.split("\n");
  assertMatch(head!, /^NAME +ID +SIZE +PROCESSOR +CONTEXT +UNTIL$/);
  assertEquals(
    first,
    "tiny:latest    0123456789ab    1.9 GB    100% GPU     4096       4 minutes from now",
  );
  assertMatch(second!, /Forever$/);
});

Deno.test("ps says so if there is no server", async () => {
  const fetch = () => Promise.reject(new TypeError("connection refused"));
  const { code, terminal } = await runCli(["ps"], { dependencies: { fetch } });
  assertEquals([code, terminal.output], [1, ""]);
  assertStringIncludes(
    terminal.errors,
    "Cannot reach a server at http://127.0.0.1:11434: start one",
  );
});

Deno.test("faults of the command line have exit code 1 and a message, help and version 0", async () => {
  const cases: [string[], number, string][] = [
    [["run", "nope", "x"], 1, "Error: model 'nope' not found\n"],
    [["run"], 1, "missing required argument 'model'"],
    [["run", "tiny", "x", "--seed", "1.5"], 1, "It must be an integer."],
    [["run", "tiny", "x", "--temperature", "hot"], 1, "It must be a number."],
    [["frobnicate"], 1, "unknown command 'frobnicate'"],
  ];
  for (const [args, code, message] of cases) {
    const result = await runCli(args);
    assertEquals([result.code, result.models.length], [code, 0]);
    assertStringIncludes(result.terminal.errors, message);
  }
  const help = await runCli(["--help"]);
  assertEquals(help.code, 0);
  for (const name of ["serve", "run", "list", "ps"]) {
    assertStringIncludes(help.terminal.output, name);
  }
  const version = await runCli(["--version"]);
  assertMatch(version.terminal.output, /^\d+\.\d+\.\d+\n$/);
});
