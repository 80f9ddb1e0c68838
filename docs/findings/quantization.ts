// Quantization error by layer: activations in groups of int8, and keys and values in few bits, beside exact
// arithmetic. The error of each layer comes on top of what came before, and the norms hold it in bounds.

import { loadModel, type LocalLoadOptions } from "../../mod.ts";
import { Figure } from "./figure.ts";
import { expect, type Find, promptOf } from "./finding.ts";

const LIMITS = { contextLength: 256, maxSequences: 1 };
const WAYS: Record<string, LocalLoadOptions> = {
  "int8 activations": { cacheType: "f16" },
  "and q8_0 cache": { cacheType: "q8_0" },
  "and q4_0 cache": { cacheType: "q4_0" },
};

/** How far the residual stream is from the exact one, after each layer. */
export const find: Find = async (model, path) => {
  const prompt = await promptOf(model, "Extract name and age: Nora Weber is 34 years old.");
  const streamOf = async (options: LocalLoadOptions) => {
    await using own = await loadModel(path, { ...LIMITS, ...options });
    return (await own.run({ prompt, capture: ["residual.post"] })).captured;
  };
  const exact = await streamOf({ exact: true });
  const lines = [];
  for (const [label, options] of Object.entries(WAYS)) {
    const stream = await streamOf(options);
    const points = stream.map(({ values }, layer): [number, number] => {
      return [layer, relativeError(values, exact[layer]!.values)];
    });
    lines.push({ label, points });
  }
  const [activations, bits8, bits4] = lines.map(({ points }) => points.at(-1)![1]);
  expect(activations! < 1e-2, "int8 activations change little");
  expect(bits4! > bits8!, "four bits of cache lose more than eight");
  const says =
    `After the last layer the squared error is ${activations!.toExponential(1)} of the ` +
    `stream with int8 activations, ${bits8!.toExponential(1)} with a q8_0 cache too, and ` +
    `${bits4!.toExponential(1)} with q4_0.`;
  const picture = new Figure("Quantization error by layer", says)
    .lines(lines, { across: "layer", up: "squared error / squared values", logarithmic: true });
  return { says, picture: `${picture}` };
};

/** Sum of squared differences by that of squares. */
function relativeError(values: Float32Array, exact: Float32Array): number {
  let [wrong, all] = [0, 0];
  values.forEach((value, i) => {
    wrong += (value - exact[i]!) ** 2;
    all += exact[i]! ** 2;
  });
  return wrong / all;
}
