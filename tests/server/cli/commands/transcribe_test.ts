// `quern transcribe` against a server that says what it was asked.

import { assertEquals, assertStringIncludes } from "@std/assert";
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

const echo: Route = ({ route, body }) =>
  new Response(`${route.split("/").at(-1)} ${JSON.stringify(fieldsOf(body))}\n`);
const ROUTES = {
  "GET /api/tags": tags("whisper:latest"),
  "POST /v1/audio/transcriptions": echo,
  "POST /v1/audio/translations": echo,
};

Deno.test("transcribe prints the texts of files, by the model that is here", async () => {
  const { code, terminal } = await runCommand(["transcribe", one, two, "--language", "de"], ROUTES);
  const line = (name: string) => {
    const fields = { file: `bytes of ${name}`, model: "whisper:latest", response_format: "text" };
    return `transcriptions ${JSON.stringify({ ...fields, language: "de" })}\n`;
  };
  assertEquals([code, terminal.output], [0, line("one.wav") + line("wo.flac")]);
});

Deno.test("transcribe asks for subtitles and for English, with the model that is named", async () => {
  const args = ["transcribe", one, "--model", "w", "--srt", "--translate", "--prompt", "A."];
  const { code, terminal } = await runCommand(args, ROUTES);
  const fields = { file: "bytes of one.wav", model: "w", response_format: "srt", prompt: "A." };
  assertEquals([code, terminal.output], [0, `translations ${JSON.stringify(fields)}\n`]);
});

Deno.test("transcribe asks for words", async () => {
  const args = ["transcribe", two, "--json", "--words"];
  const { code, terminal } = await runCommand(args, ROUTES);
  const fields = {
    file: "bytes of wo.flac",
    model: "whisper:latest",
    response_format: "verbose_json",
  };
  const asked = { ...fields, "timestamp_granularities[]": "word" };
  assertEquals([code, terminal.output], [0, `transcriptions ${JSON.stringify(asked)}\n\n`]);
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
