// Transcriptions and translations over HTTP, over a model without weights that says the same of every
// sound: what forms ask it for, the answer in each form, streams, and what is refused.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { createTestApp, type TestApp } from "../../../test_app.ts";

const SOUND = Uint8Array.of(1, 2, 3);
const TRANSCRIPTIONS = "/v1/audio/transcriptions";

const hearing = () => createTestApp({ info: { transcribes: true } });

/** Sends a form. A field with several values is there several times. */
async function send(
  { app }: TestApp,
  fields: Record<string, string | string[] | Blob>,
  path = TRANSCRIPTIONS,
): Promise<Response> {
  const form = new FormData();
  const all = { model: "tiny", file: new Blob([SOUND]), ...fields };
  for (const [name, values] of Object.entries(all)) {
    for (const value of [values].flat()) form.append(name, value);
  }
  return await app.request(path, { method: "POST", body: form });
}

Deno.test("a form is answered with the text, and reaches the model whole", async () => {
  const test = hearing();
  const response = await send(test, {
    language: "de",
    prompt: "Quern.",
    temperature: "0.25",
    seed: "7",
    keep_alive: "5m",
  });
  assertEquals([response.status, await response.json()], [200, {
    text: "Good day. Bye.",
    usage: { type: "duration", seconds: 5 },
  }]);
  const { audio, signal: _, ...asked } = test.loaded[0].transcribeRequests[0];
  assertEquals(audio, SOUND);
  assertEquals(asked, { language: "de", prompt: "Quern.", temperature: 0.25, seed: 7 });
});

Deno.test("the answer has the form that is asked for", async () => {
  const test = hearing();
  const textOf = async (format: string) => {
    const response = await send(test, { response_format: format });
    return [response.headers.get("content-type"), await response.text()];
  };
  const plain = "text/plain; charset=utf-8";
  assertEquals(await textOf("text"), [plain, "Good day. Bye.\n"]);
  assertEquals(await textOf("srt"), [
    plain,
    "1\n00:00:00,000 --> 00:00:01,500\nGood day.\n\n" +
    "2\n00:00:01,500 --> 01:01:01,250\nBye.\n\n",
  ]);
  assertEquals(await textOf("vtt"), [
    "text/vtt; charset=utf-8",
    "WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nGood day.\n\n" +
    "00:00:01.500 --> 01:01:01.250\nBye.\n\n",
  ]);
});

Deno.test("verbose_json has segments and their times, and the language by its name", async () => {
  const response = await send(hearing(), {
    response_format: "verbose_json",
    "timestamp_granularities[]": ["segment"],
  });
  const segment = {
    seek: 0,
    temperature: 0,
    avg_logprob: -0.25,
    compression_ratio: 1.5,
    no_speech_prob: 0.125,
  };
  assertEquals(await response.json(), {
    task: "transcribe",
    language: "german",
    duration: 4.5,
    text: "Good day. Bye.",
    segments: [
      { id: 0, ...segment, start: 0, end: 1.5, text: " Good day.", tokens: [7, 8] },
      { id: 1, ...segment, start: 1.5, end: 3661.25, text: " Bye.", tokens: [9] },
    ],
    usage: { type: "duration", seconds: 5 },
  });
});

Deno.test("words have times where they are asked for, in verbose_json and as subtitles", async () => {
  const test = hearing();
  const ask = (format: string, ...granularities: string[]) =>
    send(test, { response_format: format, "timestamp_granularities[]": granularities });
  const words = [
    { word: "Good", start: 0, end: 1, probability: 0.5 },
    { word: "day.", start: 1, end: 1.5, probability: 0.5 },
    { word: "Bye.", start: 1.5, end: 3661.25, probability: 0.5 },
  ];
  const answer = await (await ask("verbose_json", "word", "segment")).json();
  assertEquals(answer.words, words);
  assertEquals(answer.segments.map(({ words }: { words: unknown }) => words), [
    words.slice(0, 2),
    words.slice(2),
  ]);
  assertEquals(test.loaded[0].transcribeRequests[0].words, true);
  assertEquals(
    await (await ask("srt", "word")).text(),
    "1\n00:00:00,000 --> 00:00:01,000\nGood\n\n2\n00:00:01,000 --> 00:00:01,500\nday.\n\n" +
      "3\n00:00:01,500 --> 01:01:01,250\nBye.\n\n",
  );
});

Deno.test("a translation asks for English, whatever is spoken", async () => {
  const test = hearing();
  const response = await send(test, { response_format: "verbose_json" }, "/v1/audio/translations");
  assertEquals((await response.json()).task, "translate");
  assertEquals(test.loaded[0].transcribeRequests[0].translate, true);
  const refused = await send(test, { language: "de" }, "/v1/audio/translations");
  assertEquals([refused.status, (await refused.json()).error.param], [400, "language"]);
});

/** The events of a stream. */
async function eventsOf(response: Response): Promise<Record<string, unknown>[]> {
  return (await response.text()).trim().split("\n\n")
    .map((event) => JSON.parse(event.replace(/^data: /, "")));
}

Deno.test("a stream in another form has its parts, and ends with the whole answer", async () => {
  for (const form of ["srt", "vtt", "verbose_json"]) {
    for (const granularity of ["segment", "word"]) {
      const asked = { response_format: form, "timestamp_granularities[]": granularity };
      const events = await eventsOf(await send(hearing(), { ...asked, stream: "true" }));
      const whole = await (await send(hearing(), asked)).text();
      const parts = events.slice(0, -1).map(({ delta }) => delta).join("");
      const { type, ...last } = events.at(-1)!;
      assertEquals(type, "transcript.text.done");
      if (form === "verbose_json") assertEquals([parts, last], [last.text, JSON.parse(whole)]);
      else assertEquals([parts, last.text], [whole, whole]);
    }
  }
});

Deno.test("what is said becomes a document of a schema, however a form asks for it", async () => {
  const schema = { type: "object", properties: { day: { type: "string", maxLength: 9 } } };
  const json = JSON.stringify(schema);
  const named = JSON.stringify({ type: "json_schema", json_schema: { name: "x", schema } });
  const asked = async (fields: Record<string, string>) => {
    const test = hearing();
    const response = await send(test, fields);
    assertEquals(response.status, 200, await response.clone().text());
    assertEquals((await response.json()).text, "Good day. Bye.");
    return JSON.parse(JSON.stringify(test.loaded[0].transcribeRequests[0].format ?? null));
  };
  assertEquals(await asked({ response_format: named }), { schema });
  assertEquals(await asked({ format: json }), { schema });
  assertEquals(await asked({ format: json, response_format: "verbose_json" }), { schema });
  assertEquals(await asked({ format: "json" }), "json");
  assertEquals(
    await asked({ "response_format[type]": "json_schema", "response_format[schema]": json }),
    { schema: json },
  );
  assertEquals(await asked({ response_format: '{"type": "text"}' }), null);
});

Deno.test("silences are left out where chunks are asked for", async () => {
  const asked = async (fields: Record<string, string>) => {
    const test = hearing();
    assertEquals((await send(test, fields)).status, 200);
    return test.loaded[0].transcribeRequests[0].vad;
  };
  assertEquals(await asked({}), undefined);
  assertEquals(await asked({ chunking_strategy: "auto" }), true);
  assertEquals(await asked({ chunking_strategy: '{"type":"server_vad","threshold":0.5}' }), true);
  // As OpenAI's clients send objects in forms.
  assertEquals(
    await asked({ "chunking_strategy[type]": "server_vad", "chunking_strategy[threshold]": "1" }),
    true,
  );
});

Deno.test("a stream tells of each segment, and ends with the whole text", async () => {
  const response = await send(hearing(), { stream: "true" });
  assertEquals(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
  assertEquals(await eventsOf(response), [
    { type: "transcript.text.delta", delta: "Good day.", end: 1.5, duration: 4.5 },
    { type: "transcript.text.delta", delta: " Bye.", end: 3661.25, duration: 4.5 },
    {
      type: "transcript.text.done",
      text: "Good day. Bye.",
      usage: { type: "duration", seconds: 5 },
    },
  ]);
});

const REFUSED: [fields: Record<string, string | string[] | Blob>, param: string | null][] = [
  [{ file: "no file" }, "file"],
  [{ temperature: "2" }, "temperature"],
  [{ temperature: "warm" }, "temperature"],
  [{ response_format: "docx" }, "response_format"],
  [
    { response_format: "verbose_json", "timestamp_granularities[]": "letter" },
    "timestamp_granularities",
  ],
  [{ "timestamp_granularities[]": "word" }, "timestamp_granularities"],
  [{ response_format: "{" }, null],
  [{ response_format: '{"type":"json_schema"}' }, "response_format"],
  [{ response_format: '{"type":"yaml"}' }, "response_format.type"],
  [{ format: "yaml" }, "format"],
  [{ format: "json", response_format: '{"type":"json_object"}' }, "response_format"],
  [{ chunking_strategy: "auto", "chunking_strategy[type]": "server_vad" }, "chunking_strategy"],
  [{ "chunking_strategy[type]": "server_vad", chunking_strategy: "auto" }, "chunking_strategy"],
  [{ "chunking_strategy[__proto__]": "x" }, "chunking_strategy[__proto__]"],
  [{ "__proto__[threshold]": "x" }, "__proto__[threshold]"],
  [{ chunking_strategy: "never" }, "chunking_strategy"],
  [{ chunking_strategy: '{"type":"semantic_vad"}' }, "chunking_strategy.type"],
  [{ chunking_strategy: '{"type":"server_vad","eagerness":1}' }, "chunking_strategy.eagerness"],
  [{ "chunking_strategy[threshold]": "1" }, "chunking_strategy"],
  [{ "include[]": "logprobs" }, "include"],
  [{ languag: "de" }, "languag"],
  [{ prompt: new Blob(["x"]) }, "prompt"],
  [{ model: "" }, null],
];

Deno.test("what cannot be done is refused with the field at fault", async () => {
  for (const [fields, param] of REFUSED) {
    const response = await send(hearing(), fields);
    const { error } = await response.json();
    assertEquals([response.status, error.param], [400, param], JSON.stringify(error));
  }
});

Deno.test("what is no form, a damaged form and a model that only reads are refused", async () => {
  const { app } = hearing();
  const ask = async (body: string, type: string) => {
    const headers = { "content-type": type };
    const response = await app.request(TRANSCRIPTIONS, { method: "POST", body, headers });
    assertEquals(response.status, 400);
    return (await response.json()).error.message;
  };
  assertStringIncludes(await ask("{}", "application/json"), "has to be a form");
  assertStringIncludes(await ask("--x\r\n", "multipart/form-data; boundary=y"), "form is damaged");
  const response = await send(createTestApp({}), { stream: "true" });
  assertEquals(response.status, 400);
  assertStringIncludes((await response.json()).error.message, "Cannot transcribe speech");
});

Deno.test("lists tell which models transcribe", async () => {
  const { models } = await (await hearing().app.request("/api/tags")).json();
  assertEquals(models[0].capabilities, ["transcription"]);
});
