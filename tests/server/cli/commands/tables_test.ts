// `quern list`, `ps`, `cache`, `stop`, `cp` and `rm` against a server that answers what it is told to.

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { refusal, type Route, runCommand } from "./fake_api.ts";

const past = (seconds: number) => new Date(Date.now() - 1000 * seconds).toISOString();

const TAGS: Route = () =>
  Response.json({
    models: [
      { name: "gemma3:1b", digest: "8648f39daa8fbf5b", size: 815_319_791, modified_at: past(125) },
      { name: "模型:latest", digest: "0123456789abcdef", size: 1500, modified_at: past(90_000) },
      { name: "big:cloud", digest: "fedcba9876543210", size: 0, modified_at: past(1.5) },
    ],
  });

Deno.test("list prints a table with columns in step, of wide names too", async () => {
  const { code, terminal } = await runCommand(["list"], { "GET /api/tags": TAGS });
  assertEquals(code, 0);
  assertEquals(terminal.output.split("\n"), [
    "NAME           ID              SIZE      MODIFIED",
    "gemma3:1b      8648f39daa8f    815 MB    2 minutes ago",
    "模型:latest    0123456789ab    1.5 KB    1 day ago",
    "big:cloud      fedcba987654    -         1 second ago",
    "",
  ]);
});

Deno.test("list takes the beginning of names in any case", async () => {
  const { terminal } = await runCommand(["ls", "GEM"], { "GET /api/tags": TAGS });
  assertEquals(terminal.output.trimEnd().split("\n").length, 2);
});

Deno.test("ps tells where a model is and until when", async () => {
  const model = { name: "tiny:latest", digest: "0123456789abcdef", context_length: 4096 };
  const until = (seconds: number) => new Date(Date.now() + 1000 * seconds).toISOString();
  const models = [
    { ...model, size: 1.94e9, size_vram: 1.94e9, expires_at: until(250) },
    { ...model, size: 100, size_vram: 52, expires_at: "2400-01-01T00:00:00Z" },
    { ...model, size: 100, size_vram: 0, expires_at: until(-1) },
  ];
  const { code, terminal } = await runCommand(["ps"], {
    "GET /api/ps": () => Response.json({ models }),
  });
  assertEquals(code, 0);
  const head = "NAME           ID              SIZE      PROCESSOR          CONTEXT    UNTIL";
  const name = "tiny:latest    0123456789ab    ";
  assertEquals(terminal.output.split("\n"), [
    head,
    `${name}1.9 GB    100% GPU           4096       4 minutes from now`,
    `${name}100 B     48%/52% CPU/GPU    4096       Forever`,
    `${name}100 B     100% CPU           4096       Stopping...`,
    "",
  ]);
});

Deno.test("cache tells what is kept of each conversation, and which place cost it the rest", async () => {
  const prompt = {
    prompt_tokens: 90,
    common_tokens: 85,
    cached_tokens: 64,
    from_memory: 0,
    from_disk: 0,
  };
  const one = {
    title: "Which lamps\x1bare on?",
    requests: 2,
    last_used: past(125),
    tokens: 99,
    on_device: 96,
    in_memory: 64,
    on_disk: 32,
    reusable: 96,
    last_prompt: prompt,
  };
  const lost = {
    tokens: 700,
    seconds: 3.25,
    token: 27,
    before: "It is 10:1",
    was: "5.\n\x9bLamp",
    is: "6. Lamp",
    message: 0,
    advice: "Put it last.",
  };
  const long = { ...one, title: "x".repeat(60), is_beside: true, session: "s" };
  const models = [
    { model: "tiny:latest", block_tokens: 32, conversations: [one, long] },
    {
      model: "big:latest",
      block_tokens: 32,
      conversations: [
        { ...one, title: "", last_prompt: { ...prompt, lost } },
        { ...one, last_prompt: { ...prompt, common_tokens: 264 } },
      ],
    },
  ];
  const routes: Record<string, Route> = { "GET /api/cache": () => Response.json({ models }) };
  const { code, terminal } = await runCommand(["cache"], routes);
  assertEquals(code, 0);
  const lines = terminal.output.split("\n");
  assertMatch(lines[0]!, /^MODEL +CONVERSATION +TOKENS +DEVICE +MEMORY +DISK +LAST USED +LAST/);
  assertMatch(
    lines[1]!,
    /^tiny:latest +Which lamps are on\? +99 +96 +64 +32 +2 minutes ago +64 of 90$/,
  );
  assertMatch(lines[2]!, /^tiny:latest +\(beside\) x{39}… /);
  assertEquals(lines.slice(5), [
    "",
    "big:latest, -:",
    "  700 tokens were read again, 3.25s, because token 27 differs, in message 0:",
    '    was "It is 10:15.\\n Lamp"',
    '    is  "It is 10:16. Lamp"',
    "  Put it last.",
    "",
    "big:latest, Which lamps are on?:",
    "  200 tokens that it has from before were not in the cache any more",
    "",
  ]);
  const some = await runCommand(["cache", "tiny"], routes);
  assertEquals(some.terminal.output.split("\n").length, 4);
});

Deno.test("stop unloads by an empty prompt, and names the model that is not there", async () => {
  const stopped = await runCommand(["stop", "tiny"], {
    "POST /api/generate": () => Response.json({ done: true, done_reason: "unload" }),
  });
  assertEquals([stopped.code, stopped.terminal.output], [0, ""]);
  assertEquals(stopped.asked[0]!.body, {
    model: "tiny",
    prompt: "",
    keep_alive: 0,
    stream: false,
  });
  const missing = await runCommand(["stop", "nope"], {
    "POST /api/generate": () => refusal(404, "model 'nope' not found"),
  });
  assertEquals([missing.code, missing.terminal.errors], [
    1,
    `Error: couldn't find model "nope" to stop\n`,
  ]);
});

Deno.test("cp says what it copied, or what the server says", async () => {
  const copied = await runCommand(["cp", "a", "b"], {
    "POST /api/copy": () => new Response(null, { status: 200 }),
  });
  assertEquals([copied.code, copied.terminal.output], [0, "copied 'a' to 'b'\n"]);
  assertEquals(copied.asked[0]!.body, { source: "a", destination: "b" });
  const missing = await runCommand(["cp", "a", "b"], {
    "POST /api/copy": () => refusal(404, 'model "a" not found'),
  });
  assertEquals([missing.code, missing.terminal.errors], [1, 'Error: model "a" not found\n']);
});

Deno.test("rm removes several models, and one that is not there does not keep the others", async () => {
  const { code, terminal, asked } = await runCommand(["rm", "a", "nope", "b"], {
    "DELETE /api/delete": ({ body }) =>
      (body as { model: string }).model === "nope"
        ? refusal(404, "model 'nope' not found")
        : new Response(),
  });
  assertEquals(asked.map(({ body }) => body), [{ model: "a" }, { model: "nope" }, { model: "b" }]);
  assertEquals([code, terminal.output], [1, "deleted 'a'\ndeleted 'b'\n"]);
  assertEquals(terminal.errors, "Error: model 'nope' not found\n");
});

Deno.test("an answer that is no API's is told with its status", async () => {
  const { code, terminal } = await runCommand(["list"], {
    "GET /api/tags": () => new Response("<html>not here</html>", { status: 404 }),
  });
  assertEquals(code, 1);
  assertMatch(terminal.errors, /status 404 <html>not here/);
  const html = await runCommand(["list"], { "GET /api/tags": () => new Response("<html>") });
  assertStringIncludes(html.terminal.errors, "check that OLLAMA_HOST names a server");
});
