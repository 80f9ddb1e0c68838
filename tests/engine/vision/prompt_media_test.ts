// Images in a sequence: where their rows and the text around them lie, which rotary positions those
// have, and how the planner lays them out in steps. The positions of the conformance data besides.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { ContextLengthError, loadTokenizer, RequestError } from "../../../engine/mod.ts";
import { type Chunk, fittingTokens, layOut } from "../../../engine/run/planner.ts";
import {
  mropePosition,
  type PromptItem,
  promptLength,
  type PromptMedia,
  PromptRuns,
  textTokens,
  tokensOf,
} from "../../../engine/prompt/prompt_media.ts";
import { encodePrompt, type Prompt } from "../../../engine/prompt/prompt.ts";
import { NO_MEMORY, Sequence, type SequenceRequest } from "../../../engine/run/sequence.ts";
import { MEDIA_TOKEN, PLAN_ROW, QUERY_TILE } from "../../../kernels/mod.ts";
import { conformanceTest } from "../../conformance/logits.ts";
import { tinyPath } from "../harness.ts";
import { FIXTURES, readVisionFixture } from "./prompt_fixtures.ts";
import { unpacked } from "../../records.ts";

function imageOf(key: string, tokens: number, grid?: PromptMedia["grid"]): PromptMedia {
  return { key, tokens, embeddings: new Float32Array(tokens), ...(grid && { grid }) };
}

const grid = imageOf("grid", 6, { rows: 2, columns: 3 });
const plain = imageOf("plain", 4);
/** Positions: 0 and 1, the grid to 8, 8, the plain image to 13, and 13. */
const PROMPT: PromptItem[] = [5, 6, grid, 7, plain, 8];

function sequenceOf(prompt: PromptItem[], submitted = 0): Sequence {
  const request = { prompt, maxTokens: 9 } as unknown as SequenceRequest;
  const sequence = new Sequence(request);
  sequence.hold({ ...NO_MEMORY, slot: 1 });
  sequence.feedFrom(submitted);
  return sequence;
}

Deno.test("rows of images take positions, and no token of a vocabulary", () => {
  assertEquals(promptLength(PROMPT), 14);
  const tokens = tokensOf(PROMPT);
  assertEquals(tokens.length, 14);
  assertEquals(tokens[2], MEDIA_TOKEN);
  assertEquals(textTokens(tokens), [5, 6, 7, 8]);
  assertEquals(textTokens([5, 300]), [5, 300]);
});

Deno.test("PromptRuns know what has a position, and the M-RoPE delta", () => {
  const runs = new PromptRuns(PROMPT);
  assertEquals(runs.at(1), { first: 0, end: 2, delta: 0 });
  assertEquals(runs.at(2), { first: 2, end: 8, delta: 0, media: grid });
  assertEquals(runs.at(7), runs.at(2));
  assertEquals(runs.at(8), { first: 8, end: 9, delta: 3 }, "six rows are three columns wide");
  assertEquals(runs.at(12), { first: 9, end: 13, delta: 3, media: plain });
  assertEquals(runs.at(13), { first: 13, end: Infinity, delta: 3 });
  assertEquals(runs.at(1000), runs.at(13));
  assertEquals(new PromptRuns([1, 2]).at(0), { first: 0, end: Infinity, delta: 0 });
  assertEquals(new PromptRuns([plain, plain]).at(4), { first: 4, end: 8, delta: 0, media: plain });
});

Deno.test("mropePosition() counts lines and columns of a grid, and goes on without one", () => {
  const runs = new PromptRuns(PROMPT);
  const places = (first: number, end: number) =>
    Array.from(
      { length: end - first },
      (_, i) => Object.values(mropePosition(runs.at(first), first + i)).join(" "),
    );
  assertEquals(places(2, 8), ["2 2 2", "2 2 3", "2 2 4", "2 3 2", "2 3 3", "2 3 4"]);
  assertEquals(places(9, 13), ["6 6 6", "7 7 7", "8 8 8", "9 9 9"]);
});

Deno.test("keys name rows of images by image and row", () => {
  const keys = (prompt: PromptItem[]) => sequenceOf(prompt).keys(1, 4);
  assertEquals(keys([1, 2, 3, 4, 5]), [2, 3, 4]);
  assertEquals(keys([1, 2, plain]), [2, "0 of plain", "1 of plain"]);
  assertEquals(keys([plain]), ["1 of plain", "2 of plain", "3 of plain"]);
  assertEquals(keys([1, 2, imageOf("other", 4)]), [2, "0 of other", "1 of other"]);
});

Deno.test("layOut() gives rows of images a place among those of the step", () => {
  const chunk = (count: number, submitted: number): Chunk => ({
    sequence: sequenceOf(PROMPT, submitted),
    count,
    draft: [],
    output: true,
  });
  const plan = layOut([chunk(10, 1)], 4); // positions 1 to 10
  const rowsOf = (field: keyof typeof PLAN_ROW.fields) =>
    unpacked(PLAN_ROW, plan.rows).map((row) => row[field]);
  const images = [0, 1, 2, 3, 4, 5].map((row) => MEDIA_TOKEN + row);
  assertEquals(rowsOf("token"), [6, ...images, 7, MEDIA_TOKEN + 6, MEDIA_TOKEN + 7]);
  assertEquals(rowsOf("position"), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  assertEquals(rowsOf("timeDelta"), [0, 0, 1, 2, 3, 4, 5, 3, 3, 3]);
  assertEquals(rowsOf("heightDelta"), [0, 0, 1, 2, 2, 3, 4, 3, 3, 3]);
  assertEquals(rowsOf("widthDelta"), [0, 0, 0, 0, 3, 3, 3, 3, 3, 3]);
  assertEquals(plan.media, [
    { media: grid, first: 0, count: 6 },
    { media: plain, first: 0, count: 2 },
  ]);
  assertEquals(plan.shape.mediaRows, 8);
  // No tile is of an image and a text, and those of an image know where it ends.
  assertEquals(unpacked(QUERY_TILE, plan.prefillTiles), [
    { firstRow: 0, rows: 1, end: 11, imageEnd: 0 },
    { firstRow: 1, rows: 4, end: 11, imageEnd: 8 },
    { firstRow: 5, rows: 2, end: 11, imageEnd: 8 },
    { firstRow: 7, rows: 1, end: 11, imageEnd: 0 },
    { firstRow: 8, rows: 2, end: 11, imageEnd: 13 },
  ]);
  const rest = layOut([chunk(2, 11)], 4);
  assertEquals(rest.media, [{ media: plain, first: 2, count: 2 }]);
  const behind = { timeDelta: 3, heightDelta: 3, widthDelta: 3 };
  const first = { token: MEDIA_TOKEN, position: 11, slot: 1, inSlot: 0, ...behind };
  assertEquals(PLAN_ROW.read(rest.rows, 0), first);
});

Deno.test("layOut() tells decoding rows their M-RoPE delta", () => {
  const sequence = sequenceOf(PROMPT, 14);
  sequence.decode();
  const { rows, shape } = layOut([{ sequence, count: 1, output: true, draft: [] }], 4);
  assertEquals(unpacked(PLAN_ROW, rows), [
    { token: 0, position: 0, slot: 1, inSlot: 1, timeDelta: 3, heightDelta: 3, widthDelta: 3 },
  ]);
  assertEquals(shape.mediaRows, 0);
});

Deno.test("fittingTokens() cuts images, but not those that are seen whole", () => {
  const fitting = (submitted: number, rows: number, most: number, bidirectionalImages = true) =>
    fittingTokens(sequenceOf(PROMPT, submitted), { rows, most, bidirectionalImages });
  assertEquals(fitting(0, 5, 20, false), 5);
  assertEquals(fitting(0, 5, 20), 2, "up to the image");
  assertEquals(fitting(2, 5, 20), 6, "an image may be longer than texts");
  assertEquals(fitting(2, 5, 6), 6);
  assertEquals(fitting(2, 5, 5), 0, "but not longer than a step");
  assertEquals(fitting(4, 3, 4), 4, "the rest of an image");
  assertEquals(fitting(0, 8, 20), 8);
  assertEquals(fitting(0, 9, 20), 9);
  assertEquals(fitting(0, 10, 20), 9);
  assertEquals(fitting(0, 30, 30), 14);
});

Deno.test("encodePrompt() puts images between texts, and checks them", async () => {
  const tokenizer = await loadTokenizer(tinyPath);
  const context = { tokenizer, contextLength: 20, media: { columns: 1, tokens: 5 } };
  const encode = (prompt: Prompt) => encodePrompt(context, { prompt });
  assertEquals(encode(["ab", plain, "c", 7, plain]), [
    ...tokenizer.encode("ab", { bos: true }),
    plain,
    ...tokenizer.encode("c"),
    7,
    plain,
  ]);
  assertEquals(encode([plain]), [plain]);
  const textAlone = { ...context, media: undefined };
  assertThrows(() => encodePrompt(textAlone, { prompt: [plain] }), RequestError, "text alone");
  assertThrows(() => encode(["a", grid]), RequestError, "6 tokens");
  const narrow = { ...plain, embeddings: new Float32Array(3) };
  assertThrows(() => encode([narrow]), RequestError, "3 values in 4 rows");
  assertThrows(() => encode([imageOf("none", 0)]), RequestError, "0 rows");
  const error = assertThrows(() => encode([plain, plain, plain, plain, plain]), ContextLengthError);
  assertEquals(error.promptTokens, 20);
});

for (const name of FIXTURES) {
  conformanceTest(`rows of ${name} have the known positions`, async () => {
    for (const { prompt, positions } of Object.values((await readVisionFixture(name)).images)) {
      const runs = new PromptRuns(prompt);
      assertEquals(positions.length, promptLength(prompt));
      positions.forEach((expected, position) => {
        const run = runs.at(position);
        const turned = position - run.delta;
        const text = { time: turned, height: turned, width: turned };
        const { time, height, width } = run.media ? mropePosition(run, position) : text;
        assertEquals([time, height, width], expected);
      });
      assert(prompt.some((item) => typeof item !== "number"));
    }
  });
}
