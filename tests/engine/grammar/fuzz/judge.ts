// Ajv with ajv-formats as the judge of documents: the class of the schema's draft, and what it needs to
// read schemas as they are found. Independent of the project's own reading of schemas.

import { Ajv, type CodeKeywordDefinition, type Options } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { modernize } from "./older_drafts.ts";

/** What is wrong with a value, or undefined. */
export type Judge = (value: unknown) => string | undefined;

const OPTIONS: Options = {
  strict: false,
  validateSchema: false,
  logger: false,
  meta: false,
  next: true,
};

const CLASSES: readonly [RegExp, draft: number, typeof Ajv | typeof Ajv2019 | typeof Ajv2020][] = [
  [/draft-0?[34]/, 4, Ajv],
  [/draft-06/, 6, Ajv],
  [/draft-07/, 7, Ajv],
  [/2019-09/, 2019, Ajv2019],
];

/** As Ajv has it, 10.1 is no multiple of 0.1, as their quotient is no integer in doubles. */
const MULTIPLE_OF = {
  keyword: "multipleOf",
  type: "number" as const,
  validate: (divisor: number, value: number) => isMultiple(value, divisor),
};

function isMultiple(value: number, divisor: number): boolean {
  const parts = [value, divisor].map((number) => {
    const [, whole, fraction = "", exponent] = /(.*?)(?:\.(.*))?e(.*)/.exec(
      number.toExponential(),
    )!;
    return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
  });
  const least = Math.min(...parts.map(({ exponent }) => exponent));
  const [dividend, by] = parts.map(({ digits, exponent }) =>
    digits * 10n ** BigInt(exponent - least)
  );
  return dividend! % by! === 0n;
}

/**
 * Without maxContains, what Ajv says of an array without items is left over from what it has looked
 * at before.
 */
function mendContains(ajv: Ajv | Ajv2019 | Ajv2020): void {
  const { code, ...rest } = ajv.getKeyword("contains") as CodeKeywordDefinition;
  ajv.removeKeyword("contains").addKeyword({
    ...rest,
    code: (context) => {
      const parentSchema = { maxContains: Number.MAX_SAFE_INTEGER, ...context.parentSchema };
      code(Object.assign(context, { parentSchema }));
    },
  });
}

/** A judge for a schema; undefined where Ajv cannot compile it. */
export function judgeOf(schema: unknown): Judge | undefined {
  const declared = String((schema as { $schema?: unknown } | null)?.$schema ?? "");
  const [, draft, Class] = CLASSES.find(([pattern]) => pattern.test(declared)) ??
    [/./, 2020, Ajv2020];
  const { $schema: _, ...rest } = typeof schema === "boolean"
    ? { $schema: "", allOf: [schema] }
    : schema as Record<string, unknown>;
  const read = draft <= 7 ? modernize(rest, draft) : rest;
  // Some patterns are regular expressions only without the flag "u".
  for (const unicodeRegExp of [true, false]) {
    try {
      const ajv = new Class({ ...OPTIONS, unicodeRegExp });
      formats.default(ajv);
      ajv.removeKeyword("multipleOf").addKeyword(MULTIPLE_OF);
      mendContains(ajv);
      const validate = ajv.compile(read as object);
      return (value) => validate(value) ? undefined : ajv.errorsText(validate.errors);
    } catch {
      // Nothing can be said without a judge: the caller counts these.
    }
  }
  return undefined;
}
