// Images in prompts and conversations, from the bytes of their files on: tokens and rows as the
// conformance data has them, logits, what is encoded once, and what is refused.

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { readGguf } from "../../../engine/gguf/mod.ts";
import { IMAGE_PLACEHOLDER, MediaMarks } from "../../../engine/prompt/media_marks.ts";
import {
  type ChatRequest,
  ContextLengthError,
  estimateMemory,
  ImageError,
  inspectModel,
  loadModel,
  type LoadOptions,
  type Model,
  openModelInWorker,
  RequestError,
  UnsupportedModelError,
  usableProjector,
} from "../../../engine/mod.ts";
import { encodePrompt } from "../../../engine/prompt/prompt.ts";
import { type PromptItem, promptLength } from "../../../engine/prompt/prompt_media.ts";
import {
  ImageEncoder,
  ImageReader,
  loadImageEncoder,
  readVision,
} from "../../../engine/vision/mod.ts";
import { openDevice } from "../../../kernels/mod.ts";
import { conformanceTest, DATA, readFloats } from "../../conformance/logits.ts";
import { nmse } from "../../numbers.ts";
import { readAnswer, tinyLoad, tinyPath } from "../harness.ts";
import { GRADIENT, pngFile } from "./image_files.ts";
import { readVisionFixture } from "./prompt_fixtures.ts";

const FIXTURES = [
  ...["gemma3", "gemma4v", "idefics3", "llama4", "llava", "mistral3", "pixtral", "qwen25vl"],
  "qwen3vl",
];

interface Manifest {
  prompt: string;
  image_min_tokens: number | null;
  image_max_tokens: number | null;
  images: Record<string, { file: string; embd: string }>;
}

function pathOf(name: string, file: string): string {
  return new URL(`vision/${name}/${file}`, DATA).pathname;
}

async function readManifest(name: string): Promise<Manifest> {
  return JSON.parse(await Deno.readTextFile(pathOf(name, "manifest.json")));
}

function readImage(file: string): Promise<Uint8Array> {
  return Deno.readFile(new URL(`../images/${file}`, DATA));
}

/** How a fixture is loaded: with the limits that its values were computed with. */
async function optionsFor(name: string): Promise<LoadOptions & { projector: string }> {
  const { image_min_tokens: least, image_max_tokens: most } = await readManifest(name);
  return {
    contextLength: 512,
    maxSequences: 2,
    exact: true,
    projector: pathOf(name, "mmproj.gguf"),
    ...(least !== null && { imageMinTokens: least }),
    ...(most !== null && { imageMaxTokens: most }),
  };
}

/** The items of a manifest's prompt with an image. */
async function itemsOf(model: Model, name: string, image: Uint8Array): Promise<PromptItem[]> {
  const { projector, ...limits } = await optionsFor(name);
  const file = await readGguf(projector);
  using device = await openDevice();
  using encoder = await loadImageEncoder(file, device);
  const reader = new ImageReader(readVision(file, limits), encoder, (work) => work());
  const marks = new MediaMarks();
  const text = marks.mark((await readManifest(name)).prompt, [image]);
  const read = await reader.read(image);
  // What is counted before anything is read is what comes of it.
  const measured = reader.measure(image);
  assertEquals(measured.texts, read.texts);
  assertEquals(layoutOf(measured.parts), layoutOf(read.parts));
  const prompt = marks.split(text, [read]);
  const { tokenizer, contextLength } = model;
  const media = { columns: encoder.columns, tokens: Infinity };
  return encodePrompt({ tokenizer, contextLength, media }, { prompt });
}

/** Items without embeddings and keys. */
function layoutOf(items: readonly PromptItem[]): unknown[] {
  return items.map((item) =>
    typeof item === "number" ? item : { tokens: item.tokens, grid: item.grid }
  );
}

for (const name of FIXTURES) {
  conformanceTest(`${name} reads images from their files as it should`, async () => {
    const { images, prompt } = await readManifest(name);
    const { images: known } = await readVisionFixture(name);
    await using model = await loadModel(pathOf(name, "text.gguf"), await optionsFor(name));
    assert(model.info.readsImages);
    for (const [image, { file, embd }] of Object.entries(images)) {
      const bytes = await readImage(file);
      const { embeddings, tokens } = await model.embedImage(bytes);
      const expected = await readFloats(`vision/${name}/${embd}`);
      assertEquals(embeddings.length, expected.length);
      const embeddingError = nmse(embeddings, expected);
      assert(embeddingError <= 1e-3, `${image}: embeddings, NMSE ${embeddingError}`);
      const items = await itemsOf(model, name, bytes);
      assertEquals(layoutOf(items), layoutOf(known[image].prompt));
      const error = nmse(await model.logits(items), known[image].logits);
      assert(error <= 1e-3, `${image}: logits, NMSE ${error}`);
      const rows = items.reduce<number>(
        (sum, item) => sum + (typeof item === "number" ? 0 : item.tokens),
        0,
      );
      assertEquals(tokens, rows);
      const messages = [{ role: "user", content: prompt, images: [bytes.toBase64()] } as const];
      assertEquals(await model.countTokens({ messages }), promptLength(items));
      const { done } = await readAnswer(model.chat({ messages, temperature: 0, maxTokens: 2 }));
      assertEquals(done?.usage.promptTokens, promptLength(items));
      const generated = await readAnswer(
        model.generate({ prompt, images: [bytes], temperature: 0, maxTokens: 2 }),
      );
      assertEquals(generated.done?.usage.promptTokens, promptLength(items));
    }
  });
}

conformanceTest("an image that comes again is not encoded again", async () => {
  const image = await readImage("cat_224x224.jpg");
  const { encode } = ImageEncoder.prototype;
  let encoded = 0;
  ImageEncoder.prototype.encode = function (...parameters) {
    encoded++;
    return encode.apply(this, parameters);
  };
  try {
    const options = await optionsFor("gemma3");
    await using model = await loadModel(pathOf("gemma3", "text.gguf"), options);
    const request: ChatRequest = {
      messages: [
        { role: "user", content: "what is in this image", images: [image] },
        { role: "assistant", content: "the cat" },
        { role: "user", content: "describe the cat", images: [image] },
      ],
      temperature: 0,
      maxTokens: 4,
    };
    const [first, again] = [await readAnswer(model.chat(request)), model.chat(request)];
    assertEquals((await readAnswer(again)).text, first.text);
    assertEquals(encoded, 1);
    // Beside a sequence that runs, both come to their end.
    const other = await readImage("diagram.png");
    const [both] = await Promise.all([
      readAnswer(model.chat(request)),
      readAnswer(model.generate({ prompt: "the cat", images: [other], maxTokens: 4 })),
    ]);
    assertEquals(both.text, first.text);
    assertEquals(encoded, 2);
    assertEquals(
      await model.renderChat(request),
      "[img-0]what is in this image\nthe cat\n[img-1]describe the cat",
    );
  } finally {
    ImageEncoder.prototype.encode = encode;
  }
});

conformanceTest("a model in a worker sees, and what is no image is refused there", async () => {
  const options = await optionsFor("qwen25vl");
  await using model = await openModelInWorker(pathOf("qwen25vl", "text.gguf"), options);
  const image = await readImage("cat_224x224.jpg");
  const { embeddings, tokens } = await model.embedImage(image);
  assertEquals([embeddings.length, tokens], [36 * 64, 36]);
  const messages = [{ role: "user", content: "<__media__> describe", images: [image] }] as const;
  const { done } = await readAnswer(model.chat({ messages: [...messages], maxTokens: 1 }));
  assertEquals(done?.usage.promptTokens, await model.countTokens({ messages: [...messages] }));
  for (const wrong of [new Uint8Array(40), image.subarray(0, 3000), "file:///etc/passwd"]) {
    const request = { messages: [{ role: "user", content: "", images: [wrong] } as const] };
    await assertRejects(() => readAnswer(model.chat(request)), ImageError, "Cannot read the image");
    const both = { prompt: "", images: [image, wrong] };
    const which = "Cannot read image 2 of 2: invalid image input: ";
    await assertRejects(() => readAnswer(model.generate(both)), ImageError, which);
    await assertRejects(() => model.countTokens(request), ImageError);
    await assertRejects(() => model.embedImage(wrong), ImageError);
  }
});

for (const name of FIXTURES) {
  conformanceTest(
    `what ${name} takes with its projector is known before it is loaded`,
    async () => {
      const [path, options] = [pathOf(name, "text.gguf"), await optionsFor(name)];
      const { memory } = await estimateMemory(path, options);
      await using model = await loadModel(path, options);
      assertEquals(model.memory, memory);
      const { projector: _, ...textAlone } = options;
      assert((await estimateMemory(path, textAlone)).memory.weights < memory.weights);
    },
  );
}

conformanceTest("a model sees with a projector that fits it", async () => {
  const path = pathOf("gemma3", "text.gguf");
  const { projector } = await optionsFor("gemma3");
  assertEquals((await inspectModel(path)).readsImages, false);
  assertEquals((await inspectModel(path, { projector })).readsImages, true);
  assertEquals((await inspectModel(path, { projector: path })).readsImages, false);
  const other = pathOf("qwen3vl", "mmproj.gguf");
  const load = (projector: string) => loadModel(path, { ...tinyLoad, projector });
  const widths = `"${other}": it makes rows of 192 values, and "${path}" takes rows of 64;`;
  await assertRejects(() => load(other), UnsupportedModelError, widths);
  await assertRejects(() => load(path), UnsupportedModelError, "has no image encoder");
  // One that is only found beside the model leaves it blind, which is told.
  assertEquals((await inspectModel(path, { projector: other })).readsImages, false);
  const { projector: none, warnings = [] } = await usableProjector({ path, projector: other });
  assertEquals([none, warnings.length], [undefined, 1]);
  assertStringIncludes(warnings[0], widths);
  await using model = await loadModel(path, { ...tinyLoad, warnings });
  assertEquals([model.info.readsImages, model.warnings], [false, warnings]);
});

conformanceTest(
  "images are counted before any is read, and those of dropped turns are not",
  async () => {
    const { encode } = ImageEncoder.prototype;
    let encoded = 0;
    ImageEncoder.prototype.encode = function (...args) {
      encoded++;
      return encode.apply(this, args);
    };
    try {
      const options = { ...await optionsFor("gemma3"), contextLength: 200 };
      await using model = await loadModel(pathOf("gemma3", "text.gguf"), options);
      const images = Array.from({ length: 100 }, (_, i) => pngFile({ data: GRADIENT.with(0, i) }));
      const turn = (...images: Uint8Array[]) =>
        ({ role: "user", content: "What?", images }) as const;
      const limits = { maxTokens: 1, temperature: 0 };
      const all: ChatRequest = { messages: [turn(...images)], truncate: false, ...limits };
      for (
        const ask of [
          () => readAnswer(model.chat(all)),
          () => readAnswer(model.generate({ prompt: "What?", images, ...limits })),
          () => model.countTokens(all),
        ]
      ) await assertRejects(ask, ContextLengthError);
      const few: ChatRequest = { messages: [turn(...images.slice(0, 3))] };
      const counted = await model.countTokens(few);
      assertEquals(encoded, 0);

      const asked = async (request: ChatRequest) =>
        (await readAnswer(model.chat({ ...request, ...limits }))).done!.usage.promptTokens;
      assertEquals([await asked(few), encoded], [counted, 3]);
      const [one, two] = await Promise.all(
        [images.slice(0, 1), images.slice(0, 2)].map((some) =>
          model.countTokens({ messages: some.map((image) => turn(image)) })
        ),
      );
      encoded = 0;
      const messages = images.slice(3).map((image) => turn(image));
      const kept = await asked({ messages });
      assert(kept < options.contextLength);
      assertEquals(encoded, 1 + (kept - one) / (two - one));
      assert(encoded < 20);
    } finally {
      ImageEncoder.prototype.encode = encode;
    }
  },
);

Deno.test("a model that reads text alone refuses images", async () => {
  await using model = await loadModel(tinyPath, tinyLoad);
  assertEquals(model.info.readsImages, false);
  const images = [new Uint8Array(3)];
  const request: ChatRequest = { messages: [{ role: "user", content: "hi", images }] };
  for (
    const ask of [
      () => readAnswer(model.chat(request)),
      () => readAnswer(model.generate({ prompt: "hi", images })),
      () => model.countTokens(request),
      () => model.embedImage(images[0]),
    ]
  ) await assertRejects(ask, RequestError, "reads no images");
});

Deno.test("images stand where their text says, else before it", () => {
  const marks = new MediaMarks();
  const [a, b] = [Uint8Array.of(1), Uint8Array.of(2)];
  const show = (text: string, images?: Uint8Array[]) => marks.show(marks.mark(text, images));
  assertEquals(show("no [img] here"), "no [img] here");
  assertEquals(show("text", [a, b]), "[img-0][img-1]text");
  assertEquals(show("x <__media__> y [img]", [a, b]), "x [img-2] y [img-3]");
  assertEquals(
    show("[img-1] then [img-0] and [img-7]", [a, b]),
    "[img-5] then [img-4] and [img-7]",
  );
  assertEquals(show("only [img-1]", [a, b]), "[img-6]only [img-7]");
  const composed = `type [img] or [img-0] as <__media__>: ${IMAGE_PLACEHOLDER}`;
  assertEquals(show(composed, [a, b]), "[img-9]type [img] or [img-0] as <__media__>: [img-8]");
  assertEquals(marks.media.length, 10);
});
