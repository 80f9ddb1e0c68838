// Which documents the frame machine takes, type by type.

import { assertEquals } from "@std/assert";
import { Decimal } from "../../../../engine/grammar/json/mod.ts";
import { allNumbers, exactly, integers } from "../../../../engine/grammar/number/mod.ts";
import type { ValueType } from "../../../../engine/grammar/types.ts";
import {
  ANY,
  array,
  type CharacterLanguage,
  fateOf,
  machineFor,
  object,
  ofCharacters,
  words,
} from "./fake_automata.ts";
import type { WritingOptions } from "../../../../engine/grammar/machine/rules/rules.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

interface Case {
  readonly name: string;
  readonly types: readonly ValueType[];
  readonly languages?: readonly CharacterLanguage[];
  readonly options?: WritingOptions;
  readonly valid: readonly string[];
  /** Texts of which a byte is refused. */
  readonly invalid: readonly string[];
  /** Texts that are taken, and are no documents yet. */
  readonly open?: readonly string[];
}

const text = (language: number, min = 0, max = Infinity) => ({ strings: { language, min, max } });
const integer = { numbers: integers() };
const oneOrTwo = { numbers: exactly([Decimal.parse("1"), Decimal.parse("2")]) };

const CASES: readonly Case[] = [
  {
    name: "literals",
    types: [{ null: true, booleans: [true] }],
    valid: ["null", "true"],
    invalid: ["false", "nulll", "1"],
    open: ["nul", ""],
  },
  {
    name: "numbers",
    types: [{ numbers: allNumbers() }],
    valid: ["0", "-1", "1.5"],
    invalid: ["01", "+1", "NaN", "-null"],
    open: ["-", "1."],
  },
  {
    name: "strings of few characters",
    types: [text(0, 2, 3)],
    valid: ['"ab"', '"äöü"', '"\\n\\""', '"😀😀"'],
    invalid: ['"a"', '"abcd"', '"äöüß"', '"\\u0061b"'],
  },
  {
    name: "strings whose lengths are not an interval",
    types: [text(0, 3, 4)],
    languages: [words("a", "ab", "ac-", "bcdef")],
    valid: ['"ac-"'],
    invalid: ['"a"', '"ab', '"b'],
  },
  {
    name: "objects with required and optional keys in order",
    types: [{ objects: [object({ "a": 1, "b?": 1, "c": 1 })] }, { null: true }],
    valid: ['{"a":null,"c":null}', '{"a": null, "b": null, "c": null}'],
    invalid: ['{"c"', '{"a":null}', '{"a":null,"c":null,', '{"a":null,"a"', '{"a":  null'],
  },
  {
    name: "objects with keys in any order",
    types: [{ objects: [object({ "a": 1, "b?": 1 }, { others: [{ keys: 0, type: 1 }] })] }, {
      null: true,
    }],
    languages: [words("x", "y")],
    options: { anyOrder: true },
    valid: ['{"b":null,"x":null,"a":null}', '{"a":null}'],
    invalid: ['{"b":null}', '{"b":null,"b"', '{"x":null,"x"'],
  },
  {
    name: "other keys but once",
    types: [{ objects: [object({}, { others: [{ keys: 0, type: 1 }] })] }, { null: true }],
    valid: ['{"a":null,"ab":null,"":null}'],
    invalid: ['{"a":null,"a"', '{"a":null,"ab":null,"a"', '{"":null,""'],
  },
  {
    name: "other keys after the required ones",
    types: [
      { objects: [object({ "k": 1, "l?": 1 }, { others: [{ keys: 0, type: 1 }] })] },
      { null: true },
    ],
    languages: [words("x", "y")],
    valid: ['{"k":null,"x":null}', '{"k":null,"l":null,"y":null}'],
    invalid: ['{"x"', "{}", '{"k":null,"x":null,"l"'],
  },
  {
    name: "other keys that run out",
    types: [{ objects: [object({}, { others: [{ keys: 0, type: 1 }] })] }, { null: true }],
    languages: [words("a", "ab", "b")],
    valid: ['{"a":null,"ab":null,"b":null}'],
    invalid: ['{"ab":null,"a":null,"a', '{"a":null,"ab":null,"b":null,'],
  },
  {
    name: "numbers of properties",
    types: [{
      objects: [object({ "a?": 1, "b?": 1 }, { min: 2, max: 3, others: [{ keys: 0, type: 1 }] })],
    }, { null: true }],
    languages: [words("x")],
    valid: ['{"a":null,"b":null}', '{"b":null,"x":null}', '{"a":null,"b":null,"x":null}'],
    invalid: ["{}", '{"a":null}', '{"x"'],
  },
  {
    name: "clauses about keys",
    types: [{
      objects: [object({ "a?": 1, "b?": 1, "c?": 1 }, {
        clauses: [
          [{ key: "a", present: true }, { key: "c", present: true }],
          [{ key: "a", present: false }, { key: "b", present: true }],
        ],
      })],
    }, { null: true }],
    valid: ['{"a":null,"b":null}', '{"c":null}', '{"b":null,"c":null}'],
    invalid: ["{}", '{"b":null}', '{"a":null,"c"', '{"a":null}'],
  },
  {
    name: "undecided unions",
    types: [
      { objects: [object({ kind: 1, x: 3 }), object({ kind: 2, y: 3 })] },
      text(0),
      text(1),
      { null: true },
    ],
    languages: [words("one", "two"), words("two", "three")],
    valid: ['{"kind":"two","x":null}', '{"kind":"two","y":null}', '{"kind":"one","x":null}'],
    invalid: ['{"kind":"one","y"', '{"kind":"three","x"'],
  },
  {
    name: "arrays with a prefix and a number of items",
    types: [{ arrays: [array({ prefix: [1], rest: 2, min: 2, max: 3 })] }, { null: true }, integer],
    valid: ["[null,1]", "[null, 1, 2]"],
    invalid: ["[null]", "[]", "[1", "[null,1,2,"],
  },
  {
    name: "recursion",
    types: [{ null: true, arrays: [array({ rest: 0 })] }],
    valid: ["[[[null,[]]]]", "null"],
    invalid: ["[1", "[[]]]"],
    open: ["[[]"],
  },
  {
    name: "unique numbers",
    types: [{ arrays: [array({ rest: 1, unique: true })] }, oneOrTwo],
    valid: ["[1,2]", "[2,1]", "[]"],
    invalid: ["[1,1", "[1,2,"],
  },
  {
    name: "unique strings",
    types: [{ arrays: [array({ rest: 1, unique: true })] }, text(0)],
    languages: [ANY],
    valid: ['["a","ab","",  "b"]'.replace("  ", " ")],
    invalid: ['["a","a"', '["","x",""'],
  },
  {
    name: "unique objects",
    types: [
      { arrays: [array({ rest: 1, unique: true })] },
      { objects: [object({ a: 2, "b?": 3 })] },
      oneOrTwo,
      { null: true },
    ],
    valid: ['[{"a":1},{"a":2},{"a":1,"b":null}]', '[{"a":1,"b":null},{"a":1}]'],
    invalid: ['[{"a":1},{"a":1}', '[{"a":1},{"a": 1}', '[{"a":1,"b":null},{"a":1,"b":null}'],
  },
  {
    name: "unique items that differ only in a part that comes last",
    types: [
      { arrays: [array({ rest: 1, unique: true })] },
      { objects: [object({ a: 2, b: 3 })] },
      oneOrTwo,
      { null: true },
    ],
    valid: ['[{"a":1,"b":null},{"a":2,"b":null}]'],
    invalid: ['[{"a":1,"b":null},{"a":1'],
  },
  {
    name: "counted items",
    types: [
      {
        arrays: [array({
          rest: 1,
          max: 3,
          contains: [{ min: 1, max: 2 }],
          splits: new Map([[1, [{ type: 2, counts: [true] }, { type: 3, counts: [false] }]]]),
        })],
      },
      { null: true, booleans: [true] },
      { null: true },
      { booleans: [true] },
    ],
    valid: ["[null]", "[true,true,null]", "[null,null,true]"],
    invalid: ["[]", "[true]", "[true,true,t", "[null,null,n"],
  },
  {
    name: "white space anywhere",
    types: [{ arrays: [array({ rest: 1 })], objects: [object({ a: 1 })] }, integer],
    options: { whitespace: "free" },
    valid: [" [ 1 ,\n\t2 ]\r\n", ' { "a" :\n1 } ', "[ ]"],
    invalid: [" ".repeat(65), '{ "a "'],
  },
  {
    name: "no white space",
    types: [{ arrays: [array({ rest: 1 })] }, integer],
    options: { whitespace: "none" },
    valid: ["[1,2]"],
    invalid: ["[1, ", " ", "[ "],
  },
  {
    name: "classes of characters",
    types: [text(0, 0, 3)],
    languages: [ofCharacters(/[a-zé]/)],
    valid: ['"aéz"', '""'],
    invalid: ['"A', '"aaaa', '"è'],
  },
];

for (const { name, types, languages, options, valid, invalid, open = [] } of CASES) {
  Deno.test(`the machine takes ${name}`, () => {
    const machine = machineFor(types, languages, options);
    assertEquals(valid.filter((one) => fateOf(machine, one) !== "complete"), [], "valid");
    assertEquals(invalid.filter((one) => fateOf(machine, one) !== "refused"), [], "invalid");
    assertEquals(open.filter((one) => fateOf(machine, one) !== "open"), [], "open");
  });
}

Deno.test("completion() finishes every beginning of a document", () => {
  for (const { types, languages, options, valid, invalid } of CASES) {
    const machine = machineFor(types, languages, options);
    for (const one of [...valid, ...invalid]) {
      const matcher = machine.matcher();
      const written: number[] = [];
      for (const byte of encoder.encode(one)) {
        const rest = matcher.completion()!;
        const whole = Uint8Array.from([...written, ...rest]);
        assertEquals(fateOf(machine, whole), "complete", decoder.decode(whole));
        if (!matcher.acceptBytes(Uint8Array.of(byte))) break;
        written.push(byte);
      }
    }
  }
});
