// `quern create`: Modelfiles, the files that they name, and what the server is sent.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createHash } from "node:crypto";
import { FakeTerminal } from "../fake_terminal.ts";
import { type CommandRun, records, refusal, type Route, runCommand } from "./fake_api.ts";

const digestOf = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`;

/** Routes of a server that has the blobs of these texts. */
function routes(blobs: string[] = []): Record<string, Route> {
  const has = new Set(blobs.map(digestOf));
  const known: Record<string, Route> = {
    "POST /api/create": () => records({ status: "writing manifest" }, { status: "success" }),
  };
  return new Proxy(known, {
    get: (target, route: string) => {
      const [, method, digest] = /^(HEAD|POST) \/api\/blobs\/(.*)$/.exec(route) ?? [];
      if (!digest) return target[route];
      if (method === "HEAD") {
        return () => new Response(null, { status: has.has(digest) ? 200 : 404 });
      }
      return ({ body }: { body: string }) => {
        if (digestOf(body) !== digest) return refusal(400, "digest mismatch");
        has.add(digest);
        return new Response(null, { status: 201 });
      };
    },
  });
}

/** Runs `create` with these files; arguments may say FOLDER. */
async function create(
  files: Record<string, string>,
  args: string[],
  options: { blobs?: string[]; terminal?: FakeTerminal } = {},
): Promise<CommandRun> {
  const folder = await Deno.makeTempDir();
  try {
    for (const [name, text] of Object.entries(files)) {
      await Deno.mkdir(`${folder}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
      await Deno.writeTextFile(`${folder}/${name}`, text.replaceAll("FOLDER", folder));
    }
    const named = args.map((arg) => arg.replaceAll("FOLDER", folder));
    return await runCommand(["create", "mine", ...named], routes(options.blobs), options);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const lastBody = ({ asked }: CommandRun) => asked.at(-1)!.body as Record<string, unknown>;
const kindsAsked = ({ asked }: CommandRun) =>
  asked.map(({ route }) => route.replace(/ \/api\/blobs\/.*$/, ""));

Deno.test("create sends what a Modelfile says of another model", async () => {
  const modelfile = [
    "FROM gemma3:1b",
    "SYSTEM You are Mario.",
    "PARAMETER temperature 0.5",
    'PARAMETER stop "X"',
    "MESSAGE user hi",
    "LICENSE MIT",
    "TEMPLATE {{ .Prompt }}",
  ].join("\n");
  const run = await create({ "sub/Modelfile": modelfile }, [
    "-f",
    "FOLDER/sub/Modelfile",
    "-q",
    "q4_K_M",
  ]);
  assertEquals([run.code, run.terminal.errors], [0, "writing manifest\nsuccess\n"]);
  assertEquals(lastBody(run), {
    model: "mine",
    from: "gemma3:1b",
    quantize: "q4_K_M",
    system: "You are Mario.",
    template: "{{ .Prompt }}",
    parameters: { temperature: 0.5, stop: ["X"] },
    messages: [{ role: "user", content: "hi" }],
    license: ["MIT"],
    stream: true,
  });
});

Deno.test("create uploads the files of a Modelfile, relative to it, unless the server has them", async () => {
  const files = {
    "sub/Modelfile": "FROM ./w.gguf\nFROM ../proj.gguf\nADAPTER FOLDER/sub/lora/a.gguf",
    "sub/w.gguf": "weights",
    "proj.gguf": "projector",
    "sub/lora/a.gguf": "adapter",
  };
  const run = await create(files, ["-f", "FOLDER/sub/Modelfile"], { blobs: ["projector"] });
  assertEquals(run.code, 0);
  assertEquals(lastBody(run), {
    model: "mine",
    files: { "w.gguf": digestOf("weights"), "proj.gguf": digestOf("projector") },
    adapters: { "a.gguf": digestOf("adapter") },
    stream: true,
  });
  assertEquals(kindsAsked(run), ["HEAD", "POST", "HEAD", "HEAD", "POST", "POST /api/create"]);
  assertStringIncludes(run.terminal.errors, "uploading w.gguf: 100% of 7 B\n");
  assert(!run.terminal.errors.includes("uploading proj.gguf"));
});

Deno.test("create uploads the files of control vectors, and names those of the server", async () => {
  const files = {
    Modelfile: "FROM x\nCONTROL ./happy.gguf 0.8\nCONTROL glad\nCONTROL other/happy.gguf -1",
    "happy.gguf": "happy",
    "other/happy.gguf": "other",
  };
  const run = await create(files, ["-f", "FOLDER/Modelfile"]);
  assertEquals(lastBody(run), {
    model: "mine",
    from: "x",
    control_vectors: [
      { name: "happy.gguf", digest: digestOf("happy"), scale: 0.8 },
      { name: "glad", scale: 1 },
      { name: "1-happy.gguf", digest: digestOf("other"), scale: -1 },
    ],
    stream: true,
  });
  const missing = await create({ Modelfile: "FROM x\nCONTROL ./sad.gguf" }, [
    "-f",
    "FOLDER/Modelfile",
  ]);
  assertEquals(missing.code, 1);
  assertStringIncludes(missing.terminal.errors, "CONTROL names ./sad.gguf, but ");
});

Deno.test("create takes a folder of safetensors file by file, without what is no part of a model", async () => {
  const files = {
    Modelfile: "FROM hf",
    "hf/model-1.safetensors": "one",
    "hf/config.json": "{}",
    "hf/tokenizer.model": "vocabulary",
    "hf/README.md": "read me",
    "hf/.git/config.json": "hidden",
    "hf/original/params.json": "[]",
  };
  const run = await create(files, ["-f", "FOLDER/Modelfile"]);
  assertEquals(lastBody(run).files, {
    "config.json": digestOf("{}"),
    "model-1.safetensors": digestOf("one"),
    "original/params.json": digestOf("[]"),
    "tokenizer.model": digestOf("vocabulary"),
  });
});

Deno.test("create reads a Modelfile from standard input, and takes a blob by its digest", async () => {
  const digest = digestOf("weights");
  const terminal = new FakeTerminal([`FROM @${digest}\n`]);
  const run = await create({}, ["-f", "-"], { terminal, blobs: ["weights"] });
  assertEquals([run.code, lastBody(run).files], [0, { "model.gguf": digest }]);
  const other = new FakeTerminal([`FROM ${digest}\n`]);
  const lacking = await create({}, ["-f", "-"], { terminal: other });
  assertEquals(lacking.code, 1);
  assertStringIncludes(other.errors, "the server has no such blob");
});

Deno.test("create gives files of the same name from two folders two names", async () => {
  const files = { Modelfile: "FROM a/w.gguf\nFROM b/w.gguf", "a/w.gguf": "a", "b/w.gguf": "b" };
  const run = await create(files, ["-f", "FOLDER/Modelfile"]);
  assertEquals(lastBody(run).files, { "w.gguf": digestOf("a"), "1-w.gguf": digestOf("b") });
});

Deno.test("create uploads the file of a draft model, or names it", async () => {
  const files = { Modelfile: "FROM a\nDRAFT d.gguf", "d.gguf": "d" };
  const { draft, draft_files } = lastBody(await create(files, ["-f", "FOLDER/Modelfile"]));
  assertEquals([draft, draft_files], [undefined, { "d.gguf": digestOf("d") }]);
  const named = await create({ Modelfile: "FROM a\nDRAFT d" }, ["-f", "FOLDER/Modelfile"]);
  assertEquals(lastBody(named).draft, "d");
});

Deno.test("create says what is wrong before it sends anything", async () => {
  const cases: [Record<string, string>, string[], string][] = [
    [{}, ["-f", "FOLDER/none"], "there is no such file; write one whose first line is"],
    [{ Modelfile: "FROM ./w.gguf" }, [], "is neither a file nor a folder"],
    [{ Modelfile: "FROM gemma3\nADAPTER lora" }, [], "ADAPTER names lora"],
    [{ Modelfile: "FROM a\nDRAFT ./d.gguf" }, [], "DRAFT names ./d.gguf"],
    [{ Modelfile: "FROM a\nFROM b" }, [], "FROM takes one model's name"],
    [{ Modelfile: "FORM a" }, [], "line 1"],
  ];
  for (const [files, args, message] of cases) {
    const run = await create(files, args.length > 0 ? args : ["-f", "FOLDER/Modelfile"]);
    assertEquals([run.code, run.asked.length], [1, 0]);
    assertStringIncludes(run.terminal.errors, message);
  }
});
