// Formats to start from.

/** A way to say what an answer must be. */
export type FormatKind = "schema" | "pattern" | "grammar";

/** A format with a question that suits it. */
export interface Sample {
  name: string;
  kind: FormatKind;
  format: string;
  prompt: string;
}

const json = (value: unknown) => JSON.stringify(value, null, 2);

export const SAMPLES: readonly Sample[] = [
  {
    name: "A person",
    kind: "schema",
    format: json({
      type: "object",
      properties: {
        name: { type: "string", maxLength: 30 },
        age: { type: "integer", minimum: 0, maximum: 130 },
        city: { type: "string", maxLength: 30 },
      },
      required: ["name", "age", "city"],
    }),
    prompt: "Anna Weber is 34 years old and lives in Bern. Extract the person.",
  },
  {
    name: "A verdict",
    kind: "schema",
    format: json({
      type: "object",
      properties: {
        sentiment: { enum: ["positive", "neutral", "negative"] },
        confidence: { type: "number", minimum: 0, maximum: 1 },
      },
      required: ["sentiment", "confidence"],
    }),
    prompt: "The battery died after two days and nobody answered my mail.",
  },
  {
    name: "A list with references",
    kind: "schema",
    format: json({
      $defs: {
        item: {
          type: "object",
          properties: {
            title: { type: "string", maxLength: 24 },
            due: { type: "string", format: "date" },
            done: { type: "boolean" },
          },
          required: ["title", "due", "done"],
        },
      },
      type: "array",
      items: { $ref: "#/$defs/item" },
      minItems: 1,
      maxItems: 3,
    }),
    prompt: "Buy milk by 2026-12-01 and call Tom by 2026-12-03.",
  },
  {
    name: "One of several forms",
    kind: "schema",
    format: json({
      anyOf: [
        {
          type: "object",
          properties: {
            kind: { const: "meeting" },
            with: { type: "string", maxLength: 24 },
            date: { type: "string", format: "date" },
          },
          required: ["kind", "with", "date"],
        },
        {
          type: "object",
          properties: {
            kind: { const: "task" },
            title: { type: "string", maxLength: 24 },
            urgent: { type: "boolean" },
          },
          required: ["kind", "title", "urgent"],
        },
      ],
    }),
    prompt: "Meet Anna on 2026-12-01.",
  },
  {
    name: "A pattern",
    kind: "pattern",
    format: "(yes|no), because [a-z ]{10,60}\\.",
    prompt: "Is water wet?",
  },
  {
    name: "A grammar",
    kind: "grammar",
    format:
      'root   ::= move ("\\n" move)*\nmove   ::= piece? square\npiece  ::= [KQRBN]\nsquare ::= [a-h] [1-8]',
    prompt: "Name three good first moves in chess.",
  },
  {
    name: "A schema that is refused",
    kind: "schema",
    format: json({
      type: "object",
      properties: { age: { type: "integer", minimum: 10, maximum: 5 } },
      required: ["age"],
    }),
    prompt: "How old is Anna?",
  },
];
