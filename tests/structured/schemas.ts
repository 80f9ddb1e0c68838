// Twenty schemas as applications have them: what pydantic and zod make of records, lists, choices, trees
// and nullable fields. None says of an object that it has no other keys.

/** A schema, and what an answer is to be about. */
export interface Question {
  readonly name: string;
  readonly prompt: string;
  readonly schema: Record<string, unknown>;
}

type Properties = Record<string, unknown>;

const text = { type: "string", maxLength: 60 };
const whole = { type: "integer" };
const number = { type: "number" };
const flag = { type: "boolean" };

/** An object whose keys are all required, but for those that end in a question mark. */
function object(properties: Properties, more: object = {}): Record<string, unknown> {
  const entries = Object.entries(properties);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([key, value]) => [key.replace("?", ""), value])),
    required: entries.map(([key]) => key).filter((key) => !key.endsWith("?")),
    ...more,
  };
}

function list(items: unknown, minItems = 0, maxItems = 4): Properties {
  return { type: "array", items, minItems, maxItems };
}

function nullable(schema: unknown): Properties {
  return { anyOf: [schema, { type: "null" }] };
}

function ask(name: string, prompt: string, schema: Record<string, unknown>): Question {
  return { name, prompt, schema };
}

const address = object({
  street: text,
  city: text,
  "zip?": { type: "string", pattern: "^\\d{5}$" },
});
const NORA = "Nora Weber is 34 years old and lives in Rome.";

/** The schemas. */
export const QUESTIONS: readonly Question[] = [
  ask("person", `Extract name and age as JSON. ${NORA}`, object({ name: text, age: whole })),
  ask(
    "person, all optional",
    `Extract what is known as JSON. ${NORA}`,
    object({ "name?": text, "age?": whole, "city?": text, "email?": { ...text, format: "email" } }),
  ),
  ask(
    "nested address",
    `Extract the customer as JSON. ${NORA}`,
    object({ name: text, address: { $ref: "#/$defs/Address" } }, { $defs: { Address: address } }),
  ),
  ask(
    "sentiment",
    "How does this sound? I love it, but it broke.",
    object({
      label: { enum: ["positive", "negative", "neutral"] },
      score: { type: "number", minimum: 0, maximum: 1 },
      "reason?": nullable(text),
    }),
  ),
  ask(
    "calendar event",
    "Plan a dinner with Nora on 3 May 2026 at 19:30.",
    object({
      title: { type: "string", minLength: 1, maxLength: 40 },
      start: { type: "string", format: "date-time" },
      "end?": nullable({ type: "string", format: "date-time" }),
      participants: list(text, 1),
    }, { title: "CalendarEvent", description: "An entry of a calendar." }),
  ),
  ask(
    "invoice",
    "Write an invoice for two books and a pen.",
    object({
      id: { type: "string", pattern: "^INV-[0-9]{4}$" },
      lines: list(
        object({ item: text, quantity: { ...whole, minimum: 1 }, price: number }),
        1,
        3,
      ),
      currency: { enum: ["EUR", "USD"] },
      paid: { ...flag, default: false },
    }),
  ),
  ask(
    "shape, told apart by a constant",
    "Describe a circle or a square.",
    object({
      shape: {
        oneOf: [
          object({ kind: { const: "circle" }, radius: number }),
          object({ kind: { const: "square" }, side: number }),
        ],
      },
    }),
  ),
  ask(
    "step by step",
    "Solve 8x + 7 = -23 step by step.",
    object({ steps: list(object({ explanation: text, output: text }), 1, 3), final_answer: text }),
  ),
  ask(
    "tree",
    "Draw a small family tree.",
    {
      $ref: "#/$defs/Node",
      type: "object",
      $defs: {
        Node: object({
          name: { type: "string", maxLength: 12 },
          "children?": {
            type: "array",
            items: { $ref: "#/$defs/Node" },
            maxItems: 2,
          },
        }),
      },
    },
  ),
  ask(
    "recipe",
    "Give me a recipe for pancakes.",
    object({
      name: text,
      servings: { ...whole, minimum: 1, maximum: 12 },
      ingredients: list(object({ name: text, grams: number }), 1, 3),
      "vegetarian?": flag,
    }),
  ),
  ask(
    "search query",
    "Find cheap hotels in Rome with a pool.",
    object({
      query: { type: "string", minLength: 3, maxLength: 50 },
      "filters?": object({ "max_price?": number, "stars?": { enum: [1, 2, 3, 4, 5] } }),
      "page?": { ...whole, minimum: 1, default: 1 },
    }),
  ),
  ask(
    "labels by name",
    "Count the animals: two cats, three dogs.",
    object({ counts: { type: "object", additionalProperties: { ...whole, maximum: 9 } } }, {}),
  ),
  ask(
    "point as a tuple",
    "Where is Rome?",
    object({
      place: text,
      at: {
        type: "array",
        prefixItems: [{ type: "number", minimum: -180, maximum: 180 }, {
          type: "number",
          minimum: -90,
          maximum: 90,
        }],
        minItems: 2,
        maxItems: 2,
      },
    }),
  ),
  ask(
    "contact by mail or phone",
    "How can Nora be reached?",
    object({
      contact: {
        anyOf: [
          object({ email: { type: "string", format: "email", maxLength: 40 } }),
          object({ phone: { type: "string", pattern: "^\\+?[0-9]{6,12}$" } }),
        ],
      },
    }),
  ),
  ask(
    "form with a condition",
    "Fill in an order that is shipped.",
    object({ method: { enum: ["ship", "collect"] }, "note?": text }, {
      if: { properties: { method: { const: "ship" } }, required: ["method"] },
      then: object({ city: text }, {}),
      else: object({ hour: { ...whole, minimum: 8, maximum: 20 } }),
    }),
  ),
  ask(
    "review of code",
    "Review this change: x = x + 1",
    object({
      verdict: { enum: ["approve", "request_changes"] },
      comments: list(
        object({ line: { ...whole, minimum: 1 }, severity: { enum: ["low", "high"] }, text }),
        0,
        3,
      ),
    }),
  ),
  ask(
    "long summary",
    "Summarize what Quern is.",
    object({ summary: { type: "string", minLength: 100, maxLength: 240 }, "tags?": list(text) }),
  ),
  ask(
    "unique tags",
    "Tag this: a local model server.",
    object({
      tags: { ...list({ type: "string", minLength: 1, maxLength: 12 }, 2), uniqueItems: true },
    }),
  ),
  ask(
    "user account",
    "Make up a user account.",
    object({
      id: { type: "string", format: "uuid" },
      born: { type: "string", format: "date" },
      roles: list({ enum: ["admin", "editor", "viewer"] }, 1, 3),
      "manager?": nullable(whole),
      settings: object({ "theme?": { enum: ["dark", "light"] }, "mails?": flag }),
    }),
  ),
  ask(
    "weather",
    "What is the weather in Rome?",
    object({ city: text, celsius: { ...number, minimum: -60, maximum: 60 }, "sky?": text }),
  ),
];

/** Where a schema adds to what it is a part of. */
const BRANCHES: ReadonlySet<string> = new Set(["if", "then", "else"]);

/** A schema with every object that declares keys closed in so many words. */
export function closedForm(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closedForm);
  if (typeof schema !== "object" || schema === null) return schema;
  const whole = Object.fromEntries(
    Object.entries(schema).map(([key, value]) =>
      [key, BRANCHES.has(key) ? value : closedForm(value)] as const
    ),
  );
  const isOpen = typeof whole.properties === "object" && !("additionalProperties" in whole) &&
    whole.type === "object";
  // What a branch declares counts too.
  const keyword = "if" in whole ? "unevaluatedProperties" : "additionalProperties";
  return isOpen ? { ...whole, [keyword]: false } : whole;
}
