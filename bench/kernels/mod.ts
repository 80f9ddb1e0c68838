// All kernels over the shapes of real models: which cases there are, which of them words choose, and a
// case checked against its plain reference and then timed, all its variants side by side.

import type { Device } from "../../kernels/mod.ts";
import { attentionCases } from "./attention.ts";
import { productCases, USUAL_FORMATS } from "./products.ts";
import { recurrentCases } from "./recurrent.ts";
import { rowCases } from "./rows.ts";
import { samplingCases } from "./sampling.ts";
import { stackCases } from "./stacks.ts";
import { errorOf, type KernelCase, Workbench } from "./workbench.ts";

export type { KernelCase } from "./workbench.ts";

/** A variant of a case that was measured. */
export interface Measurement {
  /** Empty for what the device chooses itself. */
  readonly variant: string;
  /**
   * The greatest error as a fraction of the tolerance. Above 1 the variant is wrong, and is not
   * timed.
   */
  readonly error: number;
  readonly seconds: number;
  /** Bytes that have to be read and written, and floating-point operations. */
  readonly bytes: number;
  readonly flops: number;
}

/** All cases. */
export function allCases(): KernelCase[] {
  return [
    ...productCases(),
    ...stackCases(),
    ...attentionCases(),
    ...rowCases(),
    ...recurrentCases(),
    ...samplingCases(),
  ];
}

/**
 * The cases that contain all of these words. If no word names a format, products are limited to the
 * usual formats.
 *
 * @throws {RangeError} for a word that is in no case
 */
export function chooseCases(words: readonly string[], cases = allCases()): KernelCase[] {
  const wanted = words.map((word) => word.toLowerCase());
  const hasWord = ({ words }: KernelCase, word: string) =>
    words.some((own) => own.toLowerCase() === word);
  for (const word of wanted) {
    if (cases.some((each) => hasWord(each, word))) continue;
    const known = [...new Set(cases.map(({ words: [operation] }) => operation))].join(", ");
    throw new RangeError(
      `Cannot choose kernels by "${word}": operations are ${known}; other words are those of a ` +
        `row, such as q4_k, 8b, down, 4096x14336, 16rows, 1024positions`,
    );
  }
  const chosen = cases.filter((each) => wanted.every((word) => hasWord(each, word)));
  const isProduct = ({ words: [operation] }: KernelCase) =>
    operation === "linear" || operation === "experts";
  return chosen.filter((each) => {
    const [, format = ""] = each.words;
    return !isProduct(each) || USUAL_FORMATS.includes(format) ||
      wanted.includes(format.toLowerCase());
  });
}

/**
 * Checks a case on a device, and times the variants that are right.
 *
 * @param options timed: false only checks
 * @throws {RangeError} if the device does not support the case
 */
export async function* measure(
  device: Device,
  { bind }: KernelCase,
  { timed = true } = {},
): AsyncGenerator<Measurement> {
  const bench = new Workbench(device);
  const { variants, counts, reset, compare } = bind(bench);
  for (const variant of variants) {
    const { name, operations: [operation], encode } = variant;
    reset?.();
    bench.run((pass) => encode(operation!, pass));
    const error = errorOf(await compare());
    const seconds = timed && error <= 1 ? await bench.time(variant) : NaN;
    const { bytesRead, bytesWritten, flops } = operation!.work(counts);
    yield { variant: name, error, seconds, bytes: bytesRead + bytesWritten, flops };
  }
}
