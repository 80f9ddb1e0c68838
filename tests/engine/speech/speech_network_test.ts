// Whisper's networks against plain ones in doubles, on every device: the encoder's rows, logits of prompts
// and of single tokens, several sequences side by side; and files that do not fit.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { GgufError } from "../../../engine/errors.ts";
import { readGguf } from "../../../engine/gguf/mod.ts";
import { SpeechNetwork } from "../../../engine/speech/mod.ts";
import { wholeOn } from "../../../engine/weights/mod.ts";
import type { Device } from "../../../kernels/mod.ts";
import { deviceTest } from "../../gpu.ts";
import { randomFloats } from "../../numbers.ts";
import { PlainWhisper, SIZES, tinyWeights, VOCABULARY, writeTinyWhisper } from "./tiny_whisper.ts";

const FEATURES = randomFloats(2 * SIZES.rows * SIZES.bins, 77);
const PROMPT = [257, 258, 262, 5, 9, 300];

/** sqrt of the mean square of the differences, relative to that of what is expected. */
function distance(found: ArrayLike<number>, expected: readonly number[]): number {
  let [difference, size] = [0, 0];
  expected.forEach((value, i) => {
    difference += (found[i] - value) ** 2;
    size += value ** 2;
  });
  return Math.sqrt(difference / size);
}

async function withTiny<T>(
  device: Device,
  use: (network: SpeechNetwork) => Promise<T>,
  tensors = tinyWeights(),
): Promise<T> {
  const path = await Deno.makeTempFile({ suffix: ".gguf" });
  try {
    await writeTinyWhisper(path, tensors);
    const own = device.share();
    try {
      return await use(await SpeechNetwork.load(await readGguf(path), wholeOn(own)));
    } finally {
      own[Symbol.dispose]();
    }
  } finally {
    await Deno.remove(path);
  }
}

deviceTest("the encoder and the decoder compute what the paper says", async (device) => {
  const plain = new PlainWhisper(tinyWeights());
  const encoded = plain.encode(FEATURES);
  const logits = plain.decode(encoded, PROMPT);
  await withTiny(device, async (network) => {
    assertEquals(network.frames, 2 * SIZES.rows);
    await network.encode(FEATURES);
    const rows = distance(await network.encodedRows(), encoded.flat());
    assert(rows < 2e-6, `rows differ by ${rows}`);

    const outputs = [0, 3, PROMPT.length - 1];
    const whole = await network.step([{ slot: 0, position: 0, tokens: PROMPT, outputs }]);
    const expected = outputs.flatMap((index) => logits[index]);
    assert(distance(whole, expected) < 5e-6, `logits differ by ${distance(whole, expected)}`);

    // A token at a time, in two slots that are not at the same position.
    await network.step([{ slot: 3, position: 0, tokens: PROMPT.slice(0, 2) }]);
    await network.step([{ slot: 1, position: 0, tokens: PROMPT.slice(0, 4) }]);
    const both = await network.step([
      { slot: 1, position: 4, tokens: PROMPT.slice(4, 5) },
      { slot: 3, position: 2, tokens: PROMPT.slice(2, 3) },
    ]);
    assert(distance(both.subarray(0, VOCABULARY), logits[4]) < 5e-6, "slot 1");
    assert(distance(both.subarray(VOCABULARY), logits[2]) < 5e-6, "slot 3");
  });
});

deviceTest(
  "a text's alignment heads read what the paper says, and each token has logits",
  async (device) => {
    // More tokens than a step has logits, and than the encoder has rows.
    const tokens = Array.from({ length: SIZES.rows + 20 }, (_, i) => i * 7 % 256);
    const plain = new PlainWhisper(tinyWeights());
    const size = SIZES.width / SIZES.heads;
    const heads = (rows: number[][], head: number) =>
      rows.flatMap((row) => row.slice(head * size, (head + 1) * size));
    const expected: [queries: number[], keys: number[]][] = [];
    const logits = plain.decode(plain.encode(FEATURES), tokens, (layer, queries, keys) => {
      // A file that names no heads has those of the upper half.
      if (layer === 0) return;
      for (let i = 0; i < SIZES.heads; i++) expected.push([heads(queries, i), heads(keys, i)]);
    });
    await withTiny(device, async (network) => {
      await network.encode(FEATURES);
      const indices: number[] = [];
      const found = await network.align(tokens, (values, index) => {
        indices.push(index);
        const far = distance(values, logits[index]);
        assert(far < 5e-6, `logits of token ${index} differ by ${far}`);
      });
      assertEquals(indices, [...tokens.keys()]);
      assertEquals(found.length, expected.length);
      found.forEach(({ queries, keys }, i) => {
        assert(distance(queries, expected[i][0]) < 5e-6, `queries of head ${i}`);
        assert(distance(keys, expected[i][1]) < 5e-6, `keys of head ${i}`);
      });
    });
  },
);

deviceTest("a window replaces the one before", async (device) => {
  const other = randomFloats(FEATURES.length, 78);
  const plain = new PlainWhisper(tinyWeights());
  const expected = plain.decode(plain.encode(other), [257]).flat();
  await withTiny(device, async (network) => {
    await network.encode(FEATURES);
    const before = await network.step([{ slot: 0, position: 0, tokens: [257] }]);
    await network.encode(other);
    const after = await network.step([{ slot: 0, position: 0, tokens: [257] }]);
    assert(distance(after, expected) < 5e-6);
    assert(distance(before, expected) > 1e-3);
  });
});

deviceTest("a window of fewer rows is heard alone, and a whole one after it", async (device) => {
  const rows = SIZES.rows - 5;
  const plain = new PlainWhisper(tinyWeights());
  const [few, whole] = [plain.encode(FEATURES, rows), plain.encode(FEATURES)];
  const tokens = Array.from({ length: rows - 1 }, (_, i) => i * 7 % 256);
  await withTiny(device, async (network) => {
    for (const [encoded, count] of [[few, rows], [whole, SIZES.rows]] as const) {
      await network.encode(FEATURES, undefined, count);
      const found = await network.encodedRows();
      assert(distance(found.subarray(0, count * SIZES.width), encoded.flat()) < 2e-6);
      const expected = plain.decode(encoded, tokens);
      const heads = await network.align(tokens, (logits, index) => {
        assert(distance(logits, expected[index]) < 5e-6, `token ${index} of ${count} rows`);
      });
      assertEquals(heads[0].keys.length, count * SIZES.width / SIZES.heads);
    }
  });
});

deviceTest("files whose tensors do not fit are refused, and work is cancelled", async (device) => {
  const loading = (change: (tensors: ReturnType<typeof tinyWeights>) => void) => {
    const tensors = tinyWeights();
    change(tensors);
    return withTiny(device, () => Promise.resolve(), tensors);
  };
  const missing = "dec.blk.1.cross_attn_v.bias";
  await assertRejects(() => loading((all) => all.delete(missing)), GgufError, missing);
  const odd = { shape: [4], values: new Float32Array(4) };
  await assertRejects(() => loading((all) => all.set("enc.output_norm.bias", odd)), GgufError);
  await assertRejects(() => loading((all) => all.set("enc.odd.weight", odd)), GgufError, "enc.odd");
  await withTiny(device, async (network) => {
    const signal = AbortSignal.abort(new Error("enough"));
    await assertRejects(() => network.encode(FEATURES, signal), Error, "enough");
    const run = { slot: 0, position: 0, tokens: [1] };
    await assertRejects(() => network.step([run], signal), Error, "enough");
  });
});
