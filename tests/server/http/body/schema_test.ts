// The types that follow from schemas: the type check of this file is its test, and each value is held
// against its schema as well.

import { assertRejects } from "@std/assert";
import {
  anyOf,
  count,
  list,
  record,
  text,
  textOrNull,
} from "../../../../server/http/api/openapi/answer_parts.ts";
import { named } from "../../../../server/http/api/openapi/operation.ts";
import type { BodyOf } from "../../../../server/http/body/schema.ts";
import { createValidator } from "../../../../server/http/body/validate.ts";
import { json } from "../../../../server/http/stream/json.ts";

const tree = {
  type: "object",
  required: ["name"],
  properties: {
    name: { type: "string" },
    size: { type: ["integer", "null"] },
    kind: { enum: ["leaf", "branch", null] },
    labels: { type: ["object", "null"], additionalProperties: { type: "string" } },
    children: { type: ["string", "array"], items: { $ref: "#/$defs/Tree" } },
    anything: { description: "What it likes." },
  },
} as const;
const schema = { ...tree, $defs: { Tree: tree } } as const;
type Tree = BodyOf<typeof schema>;

Deno.test("a schema gives the type of its bodies, recursive ones too", async () => {
  const whole: Tree = {
    name: "root",
    size: null,
    kind: "branch",
    labels: { of: "text" },
    children: [{ name: "inner", children: [{ name: "leaf", kind: null }] }, { name: "b" }],
    anything: Symbol.iterator,
  };
  const read: Tree = await createValidator(schema)(whole);
  const { children } = read;
  const inner: string | undefined = typeof children === "object" ? children[0]?.name : children;
  if (inner !== "inner") throw new Error("the type says what is there");
});

Deno.test("what a schema refuses, its type refuses too", async () => {
  const faults: Tree[] = [
    // @ts-expect-error: a required member is missing
    {},
    // @ts-expect-error: null is not a string
    { name: null },
    // @ts-expect-error: no such word
    { name: "a", kind: "root" },
    // @ts-expect-error: a label is a text
    { name: "a", labels: { of: 1 } },
    // @ts-expect-error: a child has a name
    { name: "a", children: [{ size: 1 }] },
  ];
  const validate = createValidator(schema);
  for (const fault of faults) await assertRejects(() => validate(fault));
});

const answer = anyOf(
  record({ type: { const: "text" }, text, marks: { type: "array", maxItems: 0 } }),
  record({ type: { enum: ["count", "size"] }, number: count }, { of: list(textOrNull) }),
);
type Answer = BodyOf<typeof answer>;

Deno.test("an answer of another member, constant or variant than its schema has is a type error", async () => {
  const answers: Answer[] = [
    { type: "text", text: "said", marks: [] },
    { type: "size", number: 3, of: ["one", null] },
    { type: "count", number: 3 },
  ];
  const faults: Answer[] = [
    // @ts-expect-error: a constant is another
    { type: "texts", text: "said", marks: [] },
    // @ts-expect-error: the array is always empty
    { type: "text", text: "said", marks: ["one"] },
    // @ts-expect-error: the member is another variant's
    { type: "count", text: "said" },
    // @ts-expect-error: no variant has the member
    { type: "count", number: 3, unit: "byte" },
    // @ts-expect-error: an optional member's elements are others
    { type: "count", number: 3, of: [1] },
    // @ts-expect-error: a required member is missing
    { type: "count" },
  ];
  const validate = createValidator(answer);
  for (const right of answers) await validate(right);
  for (const wrong of faults) await assertRejects(() => validate(wrong));
});

Deno.test("a JSON response demands the type of its body, an example that of its schema", () => {
  json<Answer>({ type: "count", number: 1 });
  // @ts-expect-error: no type is named
  json({ type: "count", number: 1 });
  // @ts-expect-error: the member is misspelled
  json<Answer>({ type: "count", numbers: 1 });
  named("Answer", answer, { type: "count", number: 1 });
  // @ts-expect-error: the example does not fit
  named("Answer", answer, { type: "count", number: "1" });
});
