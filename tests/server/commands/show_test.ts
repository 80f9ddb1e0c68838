// `quern show`: its sections, its parts and their options.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { FakeTerminal } from "../fake_terminal.ts";
import { runCommand } from "./fake_api.ts";

const ANSWER = {
  license: "MIT License\n\nCopyright someone\nPermission is granted\n",
  modelfile: "# Modelfile\nFROM x\n",
  parameters: 'stop                           "<|im_end|>"\ntemperature                    0.7',
  template: "{{ .Prompt }}",
  system: "You are Mario.",
  details: { family: "llama", parameter_size: "8.0B", quantization_level: "Q4_K_M" },
  model_info: {
    "general.architecture": "llama",
    "general.parameter_count": 999_885_952,
    "llama.context_length": 8192,
    "llama.embedding_length": 2048,
    "tokenizer.ggml.tokens": ["a", "b", "c", "d"],
  },
  projector_info: {
    "general.architecture": "clip",
    "general.parameter_count": 300_000_000,
    "clip.vision.projection_dim": 768,
  },
  tensors: [{ name: "token_embd.weight", type: "Q6_K", shape: [2048, 32000] }],
  capabilities: ["completion", "vision"],
};

const show = (args: string[], answer: unknown = ANSWER, terminal = new FakeTerminal()) =>
  runCommand(["show", "x", ...args], { "POST /api/show": () => Response.json(answer) }, {
    terminal,
  });

Deno.test("show prints the sections that there is something for", async () => {
  const { code, terminal, asked } = await show([]);
  assertEquals([code, asked[0]!.body], [0, { model: "x", verbose: false }]);
  assertEquals(terminal.output.split("\n"), [
    "  Model",
    "    architecture        llama",
    "    parameters          999.89M",
    "    context length      8192",
    "    embedding length    2048",
    "    quantization        Q4_K_M",
    "",
    "  Capabilities",
    "    completion",
    "    vision",
    "",
    "  Projector",
    "    architecture    clip",
    "    parameters      300M",
    "    dimensions      768",
    "",
    "  Parameters",
    '    stop           "<|im_end|>"',
    "    temperature    0.7",
    "",
    "  System",
    "    You are Mario.",
    "",
    "  License",
    "    MIT License",
    "    Copyright someone",
    "    ...",
    "",
    "",
  ]);
});

Deno.test("show of a bare model has no empty sections, and a remote one says where it is", async () => {
  const bare = await show([], { details: { family: "gemma" }, capabilities: ["completion"] });
  assertEquals(
    bare.terminal.output,
    "  Model\n    architecture    gemma\n\n  Capabilities\n    completion\n\n",
  );
  const remote = await show([], { remote_model: "gpt", remote_host: "https://box.test" });
  assertStringIncludes(remote.terminal.output, "    remote model      gpt\n");
});

Deno.test("show -v has all metadata and tensors, long lists cut", async () => {
  const { terminal, asked } = await show(["-v"]);
  assertEquals(asked[0]!.body, { model: "x", verbose: true });
  assertStringIncludes(terminal.output, '["a", "b", "c", ... (4 values)]');
  assertStringIncludes(terminal.output, "    token_embd.weight    Q6_K    [2048 32000]\n");
  assertStringIncludes(terminal.output, "    Permission is granted\n");
});

Deno.test("show prints one part as it stands", async () => {
  for (const part of ["license", "modelfile", "parameters", "template", "system"] as const) {
    const { terminal } = await show([`--${part}`]);
    assertEquals(terminal.output, ANSWER[part].trimEnd() + "\n");
  }
  assertEquals((await show(["--system"], {})).terminal.output, "");
  const two = await show(["--system", "--license"]);
  assertEquals([two.code, two.asked.length], [1, 0]);
  assertStringIncludes(two.terminal.errors, "ask for one of them at a time");
});

Deno.test("show has bold titles on a terminal, unless NO_COLOR or TERM=dumb say no", async () => {
  const bold = "\x1b[1mModel\x1b[22m";
  const cases: [Record<string, string>, boolean, boolean][] = [
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: "1" }, true, false],
    [{ NO_COLOR: "" }, true, true],
    [{ TERM: "dumb" }, true, false],
  ];
  for (const [environment, isTerminal, isBold] of cases) {
    const terminal = new FakeTerminal();
    terminal.stdoutIsTerminal = isTerminal;
    await runCommand(["show", "x"], { "POST /api/show": () => Response.json(ANSWER) }, {
      terminal,
      environment,
    });
    assertEquals(terminal.output.includes(bold), isBold);
    assertEquals(terminal.output.includes("\x1b"), isBold);
  }
});
