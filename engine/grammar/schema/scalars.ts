// The scalars of shapes that have few of them, one by one.

import type { Languages } from "../language/mod.ts";
import { finiteNumbers } from "../number/mod.ts";
import { canonical } from "./canonical.ts";
import type { Shape } from "./shape.ts";

/** Values as canonical texts; undefined if they are many, or not easily told. */
export type FewValues = ReadonlySet<string> | undefined;

/** The strings, numbers and booleans of a shape without arrays and objects, at most `limit` of a kind. */
export function fewScalars(languages: Languages, shape: Shape, limit: number): FewValues {
  const { strings, numbers } = shape;
  const texts = strings ? languages.finite(strings.language, limit) : [];
  const values = numbers ? finiteNumbers(numbers, limit) : [];
  if (texts === undefined || values === undefined) return undefined;
  const fitting = texts.filter((text) => {
    const length = [...text].length;
    return length >= strings!.min && length <= strings!.max;
  });
  return new Set([
    ...(shape.null ? ["null"] : []),
    ...[...shape.booleans, ...values, ...fitting].map(canonical),
  ]);
}
