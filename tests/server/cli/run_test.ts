// `quern run` with a prompt: what it asks of the server and what it writes, without a terminal and
// with one.

import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import type { RunOptions } from "../../../server/cli/commands/run.ts";
import { FakeTerminal } from "./fake_terminal.ts";
import type { FakeOllamaOptions } from "./repl/fake_ollama.ts";
import { lines, personsTerminal, runModel } from "./repl/run_world.ts";
import { until } from "../../until.ts";

Deno.test("run writes the answer alone into a pipe and sends what the options say", async () => {
  const options: RunOptions = {
    temperature: 0,
    seed: -1,
    numPredict: 9,
    ctx: 64,
    system: "Be brief.",
    keepalive: "1h",
    format: "json",
  };
  const { code, terminal, asked, server } = await runModel("Hi", { options });
  assertEquals([code, terminal.output, terminal.errors], [0, "Hello\n", ""]);
  assertEquals(asked, [{
    model: "tiny",
    prompt: "Hi",
    options: { temperature: 0, seed: -1, num_predict: 9, num_ctx: 64 },
    return_progress: true,
    system: "Be brief.",
    keep_alive: "1h",
    format: "json",
  }]);
  assertEquals(server.requests.map(({ path }) => path), ["/api/show", "/api/generate"]);
  assertEquals(terminal.listeners, 0);
});

Deno.test("run puts what is piped in before the prompt", async () => {
  const cases: [piped: string[], prompt: string | undefined, sent: string][] = [
    [["Once upon\n", "a time\n"], undefined, "Once upon\na time"],
    [["some text\n"], "Sum up", "some text\nSum up"],
    [[], "Hi", "Hi"],
  ];
  for (const [piped, prompt, sent] of cases) {
    const { asked } = await runModel(prompt, { piped });
    assertEquals(asked[0].prompt, sent);
  }
});

Deno.test("run gives a raw prompt as it stands, an empty one too", async () => {
  for (const prompt of ["Once", ""]) {
    const { asked } = await runModel(prompt, { options: { raw: true, system: "not sent" } });
    const body = { model: "tiny", prompt, options: {}, return_progress: true, raw: true };
    assertEquals(asked[0], body);
  }
});

Deno.test("run makes a path absolute and leaves a name with slashes alone", async () => {
  const cases = [
    ["./a.gguf", `${Deno.cwd()}/a.gguf`],
    ["sub/b.GGUF", `${Deno.cwd()}/sub/b.GGUF`],
    ["../c", `${Deno.cwd().replace(/\/[^/]+$/, "")}/c`],
    ["/abs/folder", "/abs/folder"],
    ["hf.co/user/repo:Q4_K_M", "hf.co/user/repo:Q4_K_M"],
    ["user/model", "user/model"],
  ];
  for (const [model, sent] of cases) {
    const { asked } = await runModel("Hi", { model: model! });
    assertEquals(asked[0].model, sent);
  }
});

Deno.test("run pulls a model that is not there, with progress", async () => {
  const { code, terminal, server } = await runModel("Hi", { server: { models: [] } });
  assertEquals([code, terminal.output], [0, "Hello\n"]);
  assertStringIncludes(terminal.errors, "pulling manifest\npulling 000000000000: 100% of 100 B\n");
  const paths = server.requests.map(({ path }) => path);
  assertEquals(paths, ["/api/show", "/api/pull", "/api/show", "/api/generate"]);
});

Deno.test("run says why a model could not be pulled", async () => {
  const error = await assertRejects(() =>
    runModel("Hi", { server: { models: [] }, model: "missing" })
  );
  const reason = 'Cannot run "missing": it is not on this machine, and pulling it failed: ' +
    "pull model manifest: file does not exist";
  assertEquals(error.message, reason);
  const models = ["other:latest", "mising:latest", ...Array.from("abcdefgh")];
  const among = await assertRejects(() => runModel("Hi", { server: { models }, model: "missing" }));
  assertEquals(
    among.message,
    `${reason}. Did you mean "mising"? There is: other, mising, a, b, c, d, e, f and 2 more`,
  );
});

Deno.test("run prints the vector of a prompt for an embedding model", async () => {
  const server = { facts: { capabilities: ["embedding"] } };
  const options = { dimensions: 2, truncate: false, keepalive: "0" };
  const { code, terminal, server: { requests } } = await runModel("Hi", { server, options });
  assertEquals([code, terminal.output], [0, "[0.5,-0.25]\n"]);
  assertEquals<unknown>(requests.at(-1), {
    path: "/api/embed",
    body: { model: "tiny", input: "Hi", dimensions: 2, truncate: false, keep_alive: "0" },
  });
  await assertRejects(() => runModel(undefined, { server, keys: [] }), Error, "embedding model");
});

Deno.test("run --think goes to models that think, with a warning for others", async () => {
  const thinks = { facts: { capabilities: ["completion", "thinking"] } };
  for (const think of [true, false, "high"]) {
    const { asked, terminal } = await runModel("Hi", { server: thinks, options: { think } });
    assertEquals([asked[0].think, terminal.errors], [think, ""]);
  }
  const { asked, terminal } = await runModel("Hi", { options: { think: true } });
  assertEquals("think" in asked[0], false);
  assertEquals(terminal.errors, 'Warning: --think is left out: "tiny" does not support thinking\n');
});

Deno.test("thinking is shown at a terminal unless it is hidden, and in a pipe if it is asked for", async () => {
  const server = {
    thinking: ["Hm, ", "well"],
    facts: { capabilities: ["completion", "thinking"] },
  };
  const shown = "\x1b[2mThinking...\x1b[22m\n\x1b[2mHm, \x1b[22m\x1b[2mwell\x1b[22m\n" +
    "\x1b[2m...done thinking.\x1b[22m\n\nHello\n";
  const plain = "Thinking...\nHm, well\n...done thinking.\n\nHello\n";
  const cases: [RunOptions, Record<string, string>, FakeTerminal, string][] = [
    [{}, {}, personsTerminal(), shown],
    [{}, { NO_COLOR: "1" }, personsTerminal(), plain],
    [{ hidethinking: true }, {}, personsTerminal(), "Hello\n"],
    [{ hidethinking: true, think: true }, {}, personsTerminal(), "Hello\n"],
    [{}, {}, new FakeTerminal(), "Hello\n"],
    [{ think: false }, {}, new FakeTerminal(), "Hello\n"],
    [{ think: true }, {}, new FakeTerminal(), plain],
    [{ think: "high" }, {}, new FakeTerminal(), plain],
    [{ think: true, hidethinking: true }, {}, new FakeTerminal(), "Hello\n"],
  ];
  for (const [options, environment, terminal, output] of cases) {
    await runModel("Hi", { server, options, environment, terminal });
    assertEquals(terminal.output, output);
  }
});

Deno.test("run shows how far a server has loaded the model, and how many requests come first", async () => {
  const loading = { completed: 43, total: 100 };
  const runAtTerminal = async (server: FakeOllamaOptions) => {
    const terminal = personsTerminal();
    terminal.stderrIsTerminal = true;
    await runModel("Hi", { server, terminal });
    assertEquals(terminal.output, "Hello\n");
    return terminal.errors;
  };
  assertStringIncludes(await runAtTerminal({ loading, delay: 600 }), "loading tiny:  43%");
  assertStringIncludes(await runAtTerminal({ ahead: 3 }), "queued, 3 ahead");
  const { terminal } = await runModel("Hi", { server: { loading, ahead: 3, delay: 300 } });
  assertEquals([terminal.errors, terminal.output], ["", "Hello\n"]);
});

Deno.test("run wraps at a terminal, but not JSON, not with --nowordwrap, not in a pipe", async () => {
  const words = ["one two ", "three"];
  const cases: [RunOptions, FakeTerminal, isWrapped: boolean][] = [
    [{}, personsTerminal(9), true],
    [{ nowordwrap: true }, personsTerminal(9), false],
    [{ format: "json" }, personsTerminal(9), false],
    [{}, new FakeTerminal(), false],
  ];
  for (const [options, terminal, isWrapped] of cases) {
    await runModel("Hi", { server: { words }, options, terminal });
    assertEquals(terminal.output !== "one two three\n", isWrapped);
    assertEquals(terminal.output.includes("\n", 1), true);
  }
});

Deno.test("a model cannot steer the terminal, while a pipe gets its text as it is", async () => {
  const words = ["a\x1b[2J\x07b\tc\r\nd\x9b1m"];
  const terminal = personsTerminal();
  await runModel("Hi", { server: { words }, terminal, options: { nowordwrap: true } });
  assertEquals(terminal.output, "a[2Jb\tc\nd1m\n");
  const piped = await runModel("Hi", { server: { words } });
  assertEquals(piped.terminal.output, `${words[0]}\n`);
});

Deno.test("run --format takes a schema as text or as a file", async () => {
  const schema = '{"type":"object","properties":{"name":{"type":"string"},"id":{"enum":[' +
    "9007199254740993,1.0]}}}";
  const path = await Deno.makeTempFile();
  await Deno.writeTextFile(path, schema);
  for (const format of [schema, path]) {
    const { asked } = await runModel("Hi", { options: { format } });
    assertEquals(JSON.stringify(asked[0].format), schema);
  }
  await Deno.remove(path);
  for (const format of ["yaml", "{oops"]) {
    const message = "it must be json, a JSON Schema, or the path of a file with one";
    await assertRejects(() => runModel("Hi", { options: { format } }), Error, message);
  }
});

Deno.test("run attaches the images that a prompt names for a model that sees", async () => {
  const path = await Deno.makeTempFile({ suffix: ".png" });
  await Deno.writeTextFile(path, "pixels");
  const prompt = `What is in ${path}?`;
  const server = { facts: { capabilities: ["completion", "vision"] } };
  const seeing = await runModel(prompt, { server });
  assertEquals([seeing.asked[0].prompt, seeing.asked[0].images], ["What is in ?", [
    btoa("pixels"),
  ]]);
  assertEquals(seeing.terminal.errors, `Added image '${path}'\n`);
  const blind = await runModel(prompt);
  assertEquals([blind.asked[0].prompt, blind.asked[0].images], [prompt, undefined]);
  assertStringIncludes(blind.terminal.errors, `cannot see images: it reads the name '${path}'`);
  const missed = await runModel(`Compare '${path}' and ./nowhere.png`, { server });
  assertEquals(missed.asked[0].images, [btoa("pixels")]);
  assertStringIncludes(missed.terminal.errors, "Warning: there is no file './nowhere.png'");
  await Deno.remove(path);
});

Deno.test("run puts the texts that a prompt names before it, but none that only what is piped in names", async () => {
  const path = await Deno.makeTempFile({ suffix: ".txt" });
  await Deno.writeTextFile(path, "heron");
  const file = `--- ${path} ---\nheron\n--- end of ${path} ---\n\n`;
  const prompt = `Which bird is in '${path}'?`;
  const named = await runModel(prompt, { piped: [`a log of '${path}'\n`] });
  assertEquals(named.asked[0].prompt, `a log of '${path}'\n${file}${prompt}`);
  assertEquals(named.terminal.errors, `Added file '${path}'\n`);
  const raw = await runModel(prompt, { options: { raw: true } });
  assertEquals(raw.asked[0].prompt, prompt);
  const typed = await runModel(undefined, { keys: lines(prompt, "/bye") });
  assertEquals(typed.asked.at(-1).messages.at(-1).content, file + prompt);
  await Deno.remove(path);
});

Deno.test("run --verbose prints counts, times and rates", async () => {
  const { terminal } = await runModel("Hi", { options: { verbose: true } });
  assertEquals(terminal.output, "Hello\n");
  assertEquals(terminal.errors.split("\n"), [
    "",
    "total duration:       3.00s",
    "load duration:        1.00s",
    "prompt eval count:    10 token(s)",
    "prompt eval duration: 500.0ms",
    "prompt eval rate:     20.00 tokens/s",
    "eval count:           30 token(s)",
    "eval duration:        1.50s",
    "eval rate:            20.00 tokens/s",
    "",
  ]);
});

Deno.test("an interrupt ends run with 130 and the row of what was said", async () => {
  const terminal = new FakeTerminal();
  const server = { words: Array(1000).fill("word "), delay: 3 };
  const running = runModel("Hi", { terminal, server });
  await until(() => terminal.output.includes("word"));
  terminal.interrupt();
  const { code, server: { cut } } = await running;
  assertEquals([code, cut, terminal.listeners], [130, 1, 0]);
  assertMatch(terminal.output, /^(word )+\n$/);
});

Deno.test("run fails with the server's sentence, after what was said", async () => {
  const terminal = new FakeTerminal();
  const server = { error: "the GPU is gone" };
  await assertRejects(() => runModel("Hi", { terminal, server }), Error, "the GPU is gone");
  assertEquals(terminal.output, "Hello\n");
  assert(terminal.listeners === 0);
});
