// `quern pull` and `quern push` against a server that plays a transfer.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { FakeTerminal } from "../fake_terminal.ts";
import { until } from "../../../until.ts";
import { records, refusal, runCommand } from "./fake_api.ts";

const LAYER = { status: "pulling 7cd4618c1faf", digest: "sha256:7cd4618c1faf", total: 1000 };

const PULL = [
  { status: "pulling manifest" },
  LAYER,
  { ...LAYER, completed: 57 },
  { ...LAYER, completed: 430 },
  { ...LAYER, completed: 470 },
  { ...LAYER, completed: 1000 },
  { status: "verifying sha256 digest" },
  { status: "writing manifest" },
  { status: "success" },
];

Deno.test("pull prints each state once and a line per tenth where there is no terminal", async () => {
  const { code, terminal, asked } = await runCommand(["pull", "gemma3", "--insecure"], {
    "POST /api/pull": () => records(...PULL),
  });
  assertEquals([code, terminal.output], [0, ""]);
  assertEquals(terminal.errors.split("\n"), [
    "pulling manifest",
    "pulling 7cd4618c1faf: 0% of 1.0 KB",
    "pulling 7cd4618c1faf: 43% of 1.0 KB",
    "pulling 7cd4618c1faf: 100% of 1.0 KB",
    "verifying sha256 digest",
    "writing manifest",
    "success",
    "",
  ]);
  assertEquals(asked[0]!.body, { model: "gemma3", insecure: true, stream: true });
  assertEquals(terminal.listeners, 0);
});

Deno.test("push sends the model's name and shows the same", async () => {
  const { code, terminal, asked } = await runCommand(["push", "host/me/mine"], {
    "POST /api/push": () => records({ status: "retrieving manifest" }, { status: "success" }),
  });
  assertEquals([code, terminal.errors], [0, "retrieving manifest\nsuccess\n"]);
  assertEquals(asked[0]!.body, { model: "host/me/mine", insecure: false, stream: true });
});

Deno.test("a pull that fails ends with the server's sentence and exit code 1", async () => {
  const sentence = "pull model manifest: file does not exist";
  const answers: [() => Response, string][] = [
    [() => records({ status: "pulling manifest" }, { error: sentence }), sentence],
    [() => refusal(400, "invalid model name"), "Error: invalid model name\n"],
    [() => records({ status: "pulling manifest" }), "it ended before its last record"],
  ];
  for (const [answer, message] of answers) {
    const { code, terminal } = await runCommand(["pull", "nope"], { "POST /api/pull": answer });
    assertEquals(code, 1);
    assertStringIncludes(terminal.errors, message);
  }
});

Deno.test("a pull and a push that fail name the model that was probably meant", async () => {
  const sentence = "pull model manifest: registry.ollama.ai cannot be reached";
  const tags = () => Response.json({ models: [{ name: "gemma3:latest" }, { name: "qwen3:4b" }] });
  const cases: [string, string, string][] = [
    ["pull", "gema3", '. Did you mean "gemma3"?'],
    ["push", "qwen3:4", '. Did you mean "qwen3:4b"?'],
    // The one in the box is not listed where it was removed, and pull brings it back.
    ["pull", "quern:tyni", '. Did you mean "quern:tiny"?'],
    ["pull", "llama3.2", ""],
    ["pull", "gemma3", ""],
  ];
  for (const [command, model, suggestion] of cases) {
    const { code, terminal } = await runCommand([command, model], {
      [`POST /api/${command}`]: () => refusal(502, sentence),
      "GET /api/tags": tags,
    });
    assertEquals([code, terminal.errors], [1, `Error: ${sentence}${suggestion}\n`]);
  }
});

Deno.test("Ctrl-C ends a pull with 130, brings the cursor back and the server sees it", async () => {
  const terminal = new FakeTerminal();
  terminal.stderrIsTerminal = true;
  let isCancelled = false;
  const body = () => {
    const encoder = new TextEncoder();
    return new ReadableStream<Uint8Array>({
      start: (controller) =>
        controller.enqueue(encoder.encode(`${JSON.stringify({ ...LAYER, completed: 430 })}\n`)),
      cancel: () => void (isCancelled = true),
    });
  };
  const running = runCommand(["pull", "gemma3"], {
    "POST /api/pull": () => new Response(body()),
  }, { terminal });
  await until(() => terminal.errors.includes("43%"));
  assert(terminal.errors.startsWith("\x1b[?25l"));
  terminal.interrupt();
  assertEquals((await running).code, 130);
  await until(() => isCancelled);
  assert(terminal.errors.endsWith("\x1b[?25h"));
});
