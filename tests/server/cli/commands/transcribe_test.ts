// `quern transcribe` against a server that says what it was asked.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { FakeTerminal } from "../fake_terminal.ts";
import { type Route, runCommand } from "./fake_api.ts";

const folder = await Deno.makeTempDir();
globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));
const [one, two] = [`${folder}/one.wav`, `${folder}/two.flac`];
for (const file of [one, two]) await Deno.writeTextFile(file, `bytes of ${file.slice(-7)}`);

const tags = (...names: string[]): Route => () =>
  Response.json({
    models: [
      { name: "gemma3:latest", capabilities: ["completion"] },
      ...names.map((name) => ({ name, capabilities: ["transcription"] })),
    ],
  });

/** The fields of a form, as the text of a multipart body has them. */
function fieldsOf(body: unknown): Record<string, string> {
  const parts = String(body).matchAll(
    /name="([\w[\]]+)"(?:; filename="[^"]*")?\r\n(?:[^\r]+\r\n)*\r\n([^]*?)\r\n--/g,
  );
  return Object.fromEntries([...parts].map(([, name, value]) => [name, value]));
}

/** Answers with a stream of what it was asked, as two segments of half a minute and a half. */
const echo: Route = ({ route, body }) => {
  const text = `${route.split("/").at(-1)} ${JSON.stringify(fieldsOf(body))}`;
  const deltas = [text.slice(0, 9), text.slice(9)].map((delta, i) => ({
    type: "transcript.text.delta",
    delta,
    end: [30, 90][i],
    duration: 90.5,
  }));
  return eventStream(...deltas, { type: "transcript.text.done", text });
};

function eventStream(...events: object[]): Response {
  return new Response(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
}

const ROUTES = {
  "GET /api/tags": tags("whisper:latest"),
  "POST /v1/audio/transcriptions": echo,
  "POST /v1/audio/translations": echo,
};

Deno.test("transcribe prints the texts of files, by the model that is here", async () => {
  const { code, terminal } = await runCommand(["transcribe", one, two, "--language", "de"], ROUTES);
  const line = (name: string) => {
    const fields = {
      model: "whisper:latest",
      response_format: "text",
      stream: "true",
      language: "de",
      file: `bytes of ${name}`,
    };
    return `transcriptions ${JSON.stringify(fields)}\n`;
  };
  assertEquals([code, terminal.output], [0, line("one.wav") + line("wo.flac")]);
});

Deno.test("transcribe asks for subtitles and for English, with the model that is named", async () => {
  const args = ["transcribe", one, "--model", "w", "--srt", "--translate", "--prompt", "A."];
  const { code, terminal } = await runCommand(args, ROUTES);
  const fields = {
    ...{ model: "w", response_format: "srt", stream: "true", prompt: "A." },
    file: "bytes of one.wav",
  };
  assertEquals([code, terminal.output], [0, `translations ${JSON.stringify(fields)}`]);
});

Deno.test("transcribe asks for words", async () => {
  const args = ["transcribe", two, "--json", "--words"];
  const { code, terminal } = await runCommand(args, ROUTES);
  const asked = {
    ...{ model: "whisper:latest", response_format: "verbose_json", stream: "true" },
    ...{ "timestamp_granularities[]": "word", file: "bytes of wo.flac" },
  };
  const text = `transcriptions ${JSON.stringify(asked)}`;
  assertEquals([code, terminal.output], [0, `${JSON.stringify({ text })}\n`]);
});

Deno.test("transcribe shows on a terminal how far it is, and the text in its place", async () => {
  for (const stdoutIsTerminal of [false, true]) {
    const terminal = new FakeTerminal();
    Object.assign(terminal, { stderrIsTerminal: true, stdoutIsTerminal });
    assertEquals((await runCommand(["transcribe", one], ROUTES, { terminal })).code, 0);
    const states = terminal.errors.split("\x1b[K").map((state) => state.replace("\r", ""));
    const gone = stdoutIsTerminal ? [""] : [];
    const [half, whole] = ["one.wav: 0:30 of 1:30, 33%", "one.wav: 1:30 of 1:30, 99%"];
    assertEquals(states, ["one.wav: sent 100%", half, ...gone, whole, "", ""]);
  }
});

Deno.test("transcribe sends a file of many pieces under a name with quotes", async () => {
  const path = `${folder}/a "long" one.wav`;
  const bytes = "0123456789".repeat(100_000);
  await Deno.writeTextFile(path, bytes);
  const { code, asked } = await runCommand(["transcribe", path], ROUTES);
  const { headers, body } = asked.find(({ route }) => route.includes("transcriptions"))!;
  const form = await new Response(String(body), {
    headers: { "content-type": headers.get("content-type")! },
  }).formData();
  const file = form.get("file") as File;
  assertEquals([code, file.name, await file.text() === bytes], [0, "a %22long%22 one.wav", true]);
});

Deno.test("transcribe of silence prints empty subtitles, and a stream that breaks off fails", async () => {
  const answer = async (...events: object[]) => {
    const routes = { ...ROUTES, "POST /v1/audio/transcriptions": () => eventStream(...events) };
    const { code, terminal } = await runCommand(["transcribe", one, "--vtt"], routes);
    return [code, terminal.output, terminal.errors] as const;
  };
  const done = { type: "transcript.text.done", text: "WEBVTT\n\n" };
  assertEquals(await answer(done), [0, "WEBVTT\n\n", ""]);
  const [code, , errors] = await answer();
  assertEquals(code, 1);
  assertStringIncludes(errors, "is incomplete");
  assertStringIncludes((await answer({ error: { message: "lost it" } }))[2], `one.wav": lost it`);
});

Deno.test("transcribe says what is wrong", async () => {
  const fail = async (args: string[], routes: Record<string, Route>, words: string) => {
    const { code, terminal } = await runCommand(["transcribe", ...args], routes);
    assertEquals(code, 1);
    assertStringIncludes(terminal.errors, words);
  };
  await fail([one, "--srt", "--vtt"], ROUTES, "exclude each other");
  await fail([one, "--words"], ROUTES, "--words goes with");
  await fail([one, "--translate", "--language", "de"], ROUTES, "leave out --language");
  await fail([one], { ...ROUTES, "GET /api/tags": tags() }, "there is no model here");
  await fail([one], { ...ROUTES, "GET /api/tags": tags("a", "b") }, "name one with --model: a, b");
  await fail([`${folder}/none.wav`], ROUTES, "none.wav");
  const refuse: Route = () => Response.json({ error: { message: "too loud" } }, { status: 400 });
  const routes = { ...ROUTES, "POST /v1/audio/transcriptions": refuse };
  await fail([one], routes, `one.wav": too loud`);
});
