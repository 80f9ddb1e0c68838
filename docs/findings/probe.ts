// A linear probe (Alain and Bengio 2016): is it written in the residual stream whether the ones of a sum
// carry? A logistic regression learns it from captured rows of each layer, and is tried on other sums.

import { Figure } from "./figure.ts";
import { expect, type Find, promptOf } from "./finding.ts";

/** The share of sums that a probe of each layer judges right. */
export const find: Find = async (model) => {
  const sums = [];
  for (let a = 11; a < 80; a += 5) {
    for (const b of [12, 17, 14, 19, 16]) {
      if (a + b < 100) sums.push({ a, b, carries: a % 10 + b % 10 >= 10 });
    }
  }
  const rows: Float32Array[][] = [];
  for (const { a, b } of sums) {
    // Where the first digit of the result is to come, for which the carry is needed.
    const prompt = await promptOf(model, `What is ${a} + ${b}?`) + `${a} + ${b} = `;
    const capture = ["embedding", "residual.post"];
    const { captured } = await model.run({ prompt, capture, positions: "last" });
    captured.forEach(({ values }, depth) => (rows[depth] ??= []).push(values));
  }
  const isTest = (index: number) => index % 3 === 0;
  const labels = sums.map(({ carries }) => carries ? 1 : 0);
  const rights = rows.map((own) => accuracyOf(own, labels, isTest));
  const [first, best] = [rights[0]!, Math.max(...rights)];
  const most = Math.max(...[0, 1].map((label) => shareOf(labels, isTest, label)));
  expect(first <= most + 1e-9, "the embedding of the last token, the same in all, tells nothing");
  expect(best >= 0.95, "a middle layer knows it");
  const depth = rights.indexOf(best);
  const says = `A probe of the embedding guesses (${(100 * first).toFixed(0)} % right); one of ` +
    `layer ${depth - 1} is right in ${(100 * best).toFixed(0)} % of sums that it never saw.`;
  const picture = new Figure("Does the sum carry? A probe of each layer", says)
    .bars(
      rights.map((value, depth) => ({
        label: depth === 0 ? "embedding" : `layer ${depth - 1}`,
        value,
        note: `${(100 * value).toFixed(0)} %`,
      })),
      1,
    );
  return { says, picture: `${picture}` };
};

function shareOf(labels: readonly number[], isTest: (index: number) => boolean, label: number) {
  const tests = labels.filter((_, index) => isTest(index));
  return tests.filter((one) => one === label).length / tests.length;
}

/** Trains a logistic regression on rows that are no tests, and gives the share of tests that it gets right. */
function accuracyOf(
  rows: readonly Float32Array[],
  labels: readonly number[],
  isTest: (index: number) => boolean,
): number {
  const width = rows[0]!.length;
  const indices = rows.map((_, index) => index);
  const training = indices.filter((index) => !isTest(index));
  const [means, spreads] = [new Float64Array(width), new Float64Array(width)];
  for (let i = 0; i < width; i++) {
    const values = training.map((index) => rows[index]![i]!);
    means[i] = values.reduce((a, b) => a + b) / values.length;
    const squares = values.map((value) => (value - means[i]!) ** 2);
    spreads[i] = Math.sqrt(squares.reduce((a, b) => a + b) / values.length) + 1e-3;
  }
  const inputs = rows.map((row) => Float64Array.from(row, (x, i) => (x - means[i]!) / spreads[i]!));
  const weights = new Float64Array(width);
  let bias = 0;
  const judge = (input: Float64Array) => {
    const score = input.reduce((sum, value, i) => sum + value * weights[i]!, bias);
    return 1 / (1 + Math.exp(-score));
  };
  for (let round = 0; round < 200; round++) {
    const slope = weights.map((weight) => 0.05 * weight); // It prefers small weights.
    for (const index of training) {
      const error = (judge(inputs[index]!) - labels[index]!) / training.length;
      inputs[index]!.forEach((value, i) => slope[i]! += error * value);
      bias -= 0.1 * error;
    }
    slope.forEach((value, i) => weights[i]! -= 0.1 * value);
  }
  const tests = indices.filter(isTest);
  const right = tests.filter((index) => (judge(inputs[index]!) > 0.5 ? 1 : 0) === labels[index]);
  return right.length / tests.length;
}
