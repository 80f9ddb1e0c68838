// The lengths of shortest ends against a search by breadth over all bytes, and that none of them takes
// longer the greater the numbers of a schema are. And how many stacks unions within unions need.

import { assert, assertEquals } from "@std/assert";
import { fromPlain } from "../../../../engine/grammar/json/mod.ts";
import { Completion } from "../../../../engine/grammar/machine/completion.ts";
import {
  DEAD,
  Machine,
  type State,
  UNRESOLVED,
} from "../../../../engine/grammar/machine/machine.ts";
import { Rules } from "../../../../engine/grammar/machine/rules/rules.ts";
import { numberAutomaton } from "../../../../engine/grammar/number/mod.ts";
import { readSchema } from "../../../../engine/grammar/schema/mod.ts";

/** Bytes that a shortest document of these schemas may have. */
const BYTES = new TextEncoder().encode('{}[]":,017abcnulte');

function machineOf(schema: unknown, anyOrder = false): Machine {
  const { types, languages } = readSchema(fromPlain(schema));
  const automata = {
    text: (language: number) => languages.automaton(language),
    number: (set: Parameters<typeof numberAutomaton>[0]) => numberAutomaton(set, { plain: true }),
    count: (language: number, limit: number) =>
      languages.finite(language, limit)?.length ?? Infinity,
    work: languages.work,
  };
  return new Machine(new Rules(types, automata, { whitespace: "none", anyOrder }));
}

/** A place in a document, the document included: keys that have come must not come again. */
interface Place {
  readonly state: State;
  readonly document: Uint8Array;
}

function advance(machine: Machine, { state, document }: Place, byte: number): Place {
  let next = machine.step(state, byte);
  if (next === UNRESOLVED) next = machine.step(machine.settle(state, document, true), byte);
  const longer = Uint8Array.of(...document, byte);
  return { state: next === DEAD ? DEAD : machine.settle(next, longer, false), document: longer };
}

/** All places that are at most so many bytes from a beginning, in that order, and their next ones. */
function placesWithin(machine: Machine, depth: number): Map<State, Visit> {
  const start = { state: machine.start, document: new Uint8Array(0) };
  const visits = new Map<State, Visit>([[start.state, { place: start, depth: 0, next: [] }]]);
  for (const visit of visits.values()) {
    if (visit.depth === depth || machine.isComplete(visit.place.state)) continue;
    for (const byte of BYTES) {
      const after = advance(machine, visit.place, byte);
      if (after.state === DEAD) continue;
      visit.next.push(after.state);
      if (visits.has(after.state)) continue;
      visits.set(after.state, { place: after, depth: visit.depth + 1, next: [] });
    }
  }
  return visits;
}

interface Visit {
  readonly place: Place;
  readonly depth: number;
  readonly next: State[];
}

/** Bytes of the shortest way to the end, of the places from which there is one among them. */
function shortestEnds(machine: Machine, visits: ReadonlyMap<State, Visit>): Map<State, number> {
  const before = new Map<State, State[]>();
  const lengths = new Map<State, number>();
  for (const [state, { next }] of visits) {
    if (machine.isComplete(state)) lengths.set(state, 0);
    for (const after of next) {
      const known = before.get(after);
      if (known) known.push(state);
      else before.set(after, [state]);
    }
  }
  for (const [state, length] of lengths) {
    for (const from of before.get(state) ?? []) {
      if (!lengths.has(from)) lengths.set(from, length + 1);
    }
  }
  return lengths;
}

const INTEGER = { type: "integer" };
const LONG = { const: "bbbbb" };

/** Schemas whose shortest documents are short enough to be searched for. */
const SCHEMAS: readonly unknown[] = [
  { type: "string", minLength: 5 },
  { type: "string", pattern: "^(ab)*$", minLength: 5 },
  { type: "string", pattern: "^a[bc]+$", minLength: 4, maxLength: 4 },
  { type: "string", pattern: "^(abc|b{4})*$", minLength: 4 },
  { type: "array", minItems: 3 },
  { type: "array", prefixItems: [LONG, INTEGER, LONG], minItems: 2 },
  { type: "array", prefixItems: [LONG], items: INTEGER, minItems: 3 },
  { type: "array", items: INTEGER, contains: { minimum: 10 }, minContains: 2, minItems: 3 },
  { type: "array", contains: LONG, allOf: [{ contains: { const: 7 }, minContains: 2 }] },
  { type: "object", minProperties: 2, additionalProperties: INTEGER },
  {
    type: "object",
    patternProperties: { "^a+$": INTEGER },
    additionalProperties: false,
    minProperties: 3,
  },
  {
    type: "object",
    properties: { a: LONG, b: INTEGER, c: INTEGER },
    required: ["a"],
    minProperties: 2,
    additionalProperties: false,
  },
  {
    type: "object",
    properties: { a: INTEGER, b: LONG, c: LONG, aa: INTEGER },
    required: ["c"],
    minProperties: 3,
    additionalProperties: { const: true },
  },
  {
    type: "object",
    properties: { a: INTEGER, b: LONG, c: INTEGER },
    anyOf: [{ required: ["b"] }, { required: ["a", "c"] }],
  },
  {
    type: "object",
    properties: { a: INTEGER, b: LONG, c: INTEGER, n: INTEGER },
    required: ["n"],
    dependentRequired: { n: ["c"] },
    anyOf: [{ required: ["a"] }, { required: ["b"] }],
    minProperties: 3,
  },
  {
    $ref: "#/$defs/tree",
    $defs: {
      tree: {
        type: "object",
        properties: { a: { anyOf: [{ type: "null" }, { $ref: "#/$defs/tree" }] }, b: INTEGER },
        required: ["a"],
        minProperties: 2,
        additionalProperties: false,
      },
    },
  },
];

for (const anyOrder of [false, true]) {
  Deno.test(`ends are as short as a search finds them, ${anyOrder ? "in any" : "in"} order`, () => {
    for (const schema of SCHEMAS) {
      const machine = machineOf(schema, anyOrder);
      const completion = new Completion(machine);
      const whole = completion.cost(machine.start);
      // Beside the shortest way too: a key may come that the shortest end has not.
      const visits = placesWithin(machine, whole);
      const lengths = shortestEnds(machine, visits);
      assertEquals(lengths.get(machine.start), whole, JSON.stringify(schema));
      for (const [state, { place, depth }] of visits) {
        const about = `${JSON.stringify(schema)} after ${new TextDecoder().decode(place.document)}`;
        const length = lengths.get(state) ?? Infinity;
        const cost = completion.cost(state);
        // A longer way may leave the places that were looked at.
        if (length <= whole - depth) assertEquals(cost, length, about);
        else assert(cost > whole - depth, about);
      }
    }
  });
}

Deno.test("ends that could never be written are measured at once", () => {
  const nested = (depth: number): unknown =>
    depth === 0 ? INTEGER : { type: "array", minItems: 1e6, items: nested(depth - 1) };
  const cases: readonly (readonly [schema: unknown, least: number])[] = [
    [{ type: "string", minLength: 1e9 }, 1e9],
    [{ type: "string", minLength: 2 ** 40 }, 1e9],
    [{ type: "array", minItems: 1e9 }, 2e9],
    [{ type: "array", minItems: 2 ** 40, uniqueItems: true }, 1e9],
    [{ type: "array", contains: INTEGER, minContains: 9000, minItems: 1e9 }, 2e9],
    [{ type: "object", minProperties: 1e9 }, 5e9],
    [{ type: "object", minProperties: 1e6, properties: { a: INTEGER }, required: ["a"] }, 5e6],
    [nested(40), 1e240],
  ];
  for (const [schema, least] of cases) {
    const machine = machineOf(schema);
    const cost = new Completion(machine).cost(machine.start);
    assert(cost >= least, `${JSON.stringify(schema)}: ${cost}`);
    assert(machine.size < 10, "no states are made on the way");
  }
});

Deno.test("unions within unions need as many stacks as their alternatives add up to", () => {
  const depth = 6;
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    $ref: "#/$defs/node",
    $defs: {
      node: {
        anyOf: Array.from({ length: 5 }, (_, at) => ({
          type: "object",
          properties: { next: { $ref: "#/$defs/node" }, [`only${at}`]: { type: "string" } },
          additionalProperties: false,
        })),
      },
    },
  };
  const machine = machineOf(schema);
  let place: Place = { state: machine.start, document: new Uint8Array(0) };
  for (const byte of new TextEncoder().encode('{"next":'.repeat(depth) + '{"only1":"x"')) {
    place = advance(machine, place, byte);
    assert(place.state !== DEAD);
    assert(machine.stacksOf(place.state).length <= 5, "one for each alternative");
  }
  for (const byte of new TextEncoder().encode("}".repeat(depth + 1))) {
    place = advance(machine, place, byte);
  }
  assert(machine.isComplete(place.state));
});
