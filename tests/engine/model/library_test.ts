// The library as its users have it: what `mod.ts` exports, what importing it takes, and that the
// examples in its documentation run.

import * as library from "../../../mod.ts";
import { PROJECT_ROOT } from "../../source_files.ts";
import { readAnswer, tinyLoad, tinyPath } from "../harness.ts";
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";

async function runDeno(...args: string[]): Promise<{ code: number; output: string }> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args,
    cwd: PROJECT_ROOT,
    // Without it libEGL now and then aborts the process at its exit; see server/cli/wiring.ts.
    env: { NO_COLOR: "1", ...(Deno.build.os === "linux" && { DENO_WEBGPU_BACKEND: "vulkan" }) },
  }).output();
  return { code, output: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
}

Deno.test("importing the library needs no permission, and prints nothing", async () => {
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    const specifier = JSON.stringify(new URL("mod.ts", PROJECT_ROOT));
    await Deno.writeTextFile(
      file,
      `import { loadModel } from ${specifier};\n` +
        `await loadModel("x.gguf").catch((error) => console.log(error.name));\n`,
    );
    const { code, output } = await runDeno("run", "--no-prompt", "--config=deno.json", file);
    assertEquals([code, output.replace(/^Check .*\n/, "")], [0, "NotCapable\n"]);
  } finally {
    await Deno.remove(file);
  }
});

Deno.test("the examples of the library run, with a model too", async () => {
  // Their types are checked by `deno task check`.
  const options = ["-A", "--no-check", "--doc"];
  const { code, output } = await runDeno("test", ...options, "mod.ts", "--", tinyPath);
  assertEquals(code, 0, output);
  assertStringIncludes(output, "llama F32 256");
  // The example samples with a random seed, and a model of random weights may end where it likes.
  assertMatch(output, /^(length 20|stop \d+)$/m);
});

Deno.test("the library exports what its users need, and nothing of the server", () => {
  assertEquals(Object.keys(library).sort(), [
    "ANSWER_OPTIONS",
    "AdapterError",
    "AnswerError",
    "AudioError",
    "ChatTemplateError",
    "ContextLengthError",
    "DEVICE_KINDS",
    "DeviceFailedError",
    "DeviceLostError",
    "EngineError",
    "GgufError",
    "GpuError",
    "GpuMemoryError",
    "GrammarError",
    "HostError",
    "ImageError",
    "JsonNumber",
    "LOAD_OPTIONS",
    "MemoryStore",
    "ModelClosedError",
    "ModelLostError",
    "NotFiniteError",
    "OPTIONS",
    "RequestError",
    "ResourceError",
    "SAMPLING_OPTIONS",
    "SchemaError",
    "Session",
    "TOKEN_OPTIONS",
    "TapError",
    "TokenizerError",
    "Turn",
    "UnsupportedModelError",
    "ValueBudget",
    "WorkerBusyError",
    "compileGrammar",
    "compilePattern",
    "compileSchema",
    "filesInMemory",
    "inspectModel",
    "listKeptFiles",
    "loadModel",
    "loadTokenizer",
    "logitLens",
    "makeControlVector",
    "measurePerplexity",
    "openModelInProcess",
    "openModelInWorker",
    "openSources",
    "parseExactJson",
    "profileModel",
    "readControlVector",
    "removeKeptFile",
    "serveModelProcess",
    "steer",
    "tool",
    "writeControlVector",
  ]);
});

Deno.test("a model loads from a URL, generates, and closes at the end of its block", async () => {
  let ended: library.Model;
  {
    await using model = await library.loadModel(new URL(`file://${tinyPath}`), tinyLoad);
    const { tokens } = await readAnswer(
      model.generate({ prompt: "hello", temperature: 0, maxTokens: 3 }),
    );
    assertEquals(tokens.length, 3);
    const logits = await model.logits([...model.tokenizer.encode("hello"), ...tokens]);
    assertEquals(logits.length, 8 * model.tokenizer.vocabularySize);
    ended = model;
  }
  assertEquals(ended.memory.weights, 0);
});

Deno.test("inspectModel() and loadTokenizer() read the header alone", async () => {
  const info = await library.inspectModel(tinyPath);
  assertEquals(info, {
    architecture: "llama",
    vocabularySize: 300,
    parameterCount: 124_736,
    quantization: "F32",
    trainedContextLength: 256,
    embeddingLength: 64,
    fileSize: (await Deno.stat(tinyPath)).size,
    hasChatTemplate: true,
    callsTools: "generic",
    thinks: false,
    fillsInMiddle: false,
    readsImages: false,
    isEmbeddingModel: false,
  });
  const tokenizer = await library.loadTokenizer(new URL(`file://${tinyPath}`));
  assertEquals(tokenizer.decode(tokenizer.encode("héllo 😀")), "héllo 😀");
});

Deno.test("what is not there and what is no model are errors that name the file", async () => {
  for (const load of [library.loadModel, library.inspectModel, library.loadTokenizer]) {
    const missing = await load("no_such.gguf").then(() => undefined, (error) => error);
    assertEquals(missing instanceof Deno.errors.NotFound, true);
    const file = await Deno.makeTempFile();
    await Deno.writeTextFile(file, "GGUF");
    const broken = await load(file).then(() => undefined, (error) => error);
    assertEquals(broken instanceof library.GgufError && broken.file, file);
    await Deno.remove(file);
  }
});
