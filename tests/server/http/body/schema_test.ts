// The types that follow from schemas: the type check of this file is its test, and each value is held
// against its schema as well.

import { assertThrows } from "@std/assert";
import type { BodyOf } from "../../../../server/http/body/schema.ts";
import { createValidator } from "../../../../server/http/body/validate.ts";

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

Deno.test("a schema gives the type of its bodies, recursive ones too", () => {
  const whole: Tree = {
    name: "root",
    size: null,
    kind: "branch",
    labels: { of: "text" },
    children: [{ name: "inner", children: [{ name: "leaf", kind: null }] }, { name: "b" }],
    anything: Symbol.iterator,
  };
  const read: Tree = createValidator(schema)(whole);
  const { children } = read;
  const inner: string | undefined = typeof children === "object" ? children[0]?.name : children;
  if (inner !== "inner") throw new Error("the type says what is there");
});

Deno.test("what a schema refuses, its type refuses too", () => {
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
  for (const fault of faults) assertThrows(() => validate(fault));
});
