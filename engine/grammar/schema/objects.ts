// The algebra of objects: intersection, and difference as a union of the ways to violate an object
// type. What is known about the presence of keys (required, forbidden, clauses, counts) is
// propagated until nothing changes.

import {
  ANY,
  anyObject,
  type Cell,
  type Clause,
  type Literal,
  NONE,
  type ObjectShape,
  type PropertyShape,
  type TypeAlgebra,
} from "./shape.ts";
import { literals } from "./strings.ts";

/** Steps of work for a property or clause that is copied and examined. */
const SETTLE_STEPS = 0.25;

/** The objects that are in both; undefined if there are surely none. */
export function intersectObjects(
  types: TypeAlgebra,
  a: ObjectShape,
  b: ObjectShape,
): ObjectShape | undefined {
  types.spend(1 + a.properties.size + b.properties.size);
  const properties = new Map<string, PropertyShape>();
  for (const key of [...a.properties.keys(), ...b.properties.keys()]) {
    if (properties.has(key)) continue;
    const [first, second] = [propertyOf(types, a, key), propertyOf(types, b, key)];
    properties.set(key, {
      type: types.all([first.type, second.type]),
      required: first.required || second.required,
      ...eitherDeclared(first, second),
    });
  }
  return settle(types, {
    properties,
    others: intersectCells(types, a.others, b.others),
    min: Math.max(a.min, b.min),
    max: Math.min(a.max, b.max),
    clauses: [...a.clauses, ...b.clauses],
    wantedKeys: [...a.wantedKeys, ...b.wantedKeys],
    ...(a.isClosed || b.isClosed) && { isClosed: true },
  });
}

function eitherDeclared(
  a: { readonly isDeclared?: boolean },
  b: { readonly isDeclared?: boolean },
): { readonly isDeclared?: true } {
  return a.isDeclared || b.isDeclared ? { isDeclared: true } : {};
}

/** The objects of `a` that are not in `b`, as alternatives. */
export function subtractObject(
  types: TypeAlgebra,
  a: ObjectShape,
  b: ObjectShape,
): ObjectShape[] {
  const settled = settle(types, b);
  if (settled === undefined) return [a];
  return violations(types, settled)
    .map((violation) => intersectObjects(types, a, violation))
    .filter((shape) => shape !== undefined);
}

/** The type of an object's value at a key, declared or not; NONE if the key is forbidden. */
export function propertyOf(types: TypeAlgebra, shape: ObjectShape, key: string): PropertyShape {
  const declared = shape.properties.get(key);
  if (declared !== undefined) return declared;
  const cell = shape.others.find(({ keys }) => types.languages.contains(keys, key));
  return { type: cell?.type ?? NONE, required: false, ...eitherDeclared(cell ?? {}, {}) };
}

function intersectCells(types: TypeAlgebra, a: readonly Cell[], b: readonly Cell[]): Cell[] {
  const cells: Cell[] = [];
  for (const first of a) {
    for (const second of b) {
      const keys = types.languages.intersect(first.keys, second.keys);
      if (types.languages.isEmpty(keys)) continue;
      const type = types.all([first.type, second.type]);
      if (type !== NONE) cells.push({ keys, type, ...eitherDeclared(first, second) });
    }
  }
  return mergeCells(types, cells);
}

/** Joins cells that have the same type, if all or none of them are declared. */
export function mergeCells(types: TypeAlgebra, cells: readonly Cell[]): Cell[] {
  const byType = new Map<string, Cell>();
  for (const cell of cells) {
    const name = `${cell.type} ${cell.isDeclared ?? false}`;
    const known = byType.get(name);
    const keys = known === undefined ? cell.keys : types.languages.union(known.keys, cell.keys);
    byType.set(name, { ...cell, keys });
  }
  return [...byType.values()];
}

/** Propagates what is known about presence; undefined if it is contradictory. */
export function settle(types: TypeAlgebra, shape: ObjectShape): ObjectShape | undefined {
  types.languages.work.charge(SETTLE_STEPS * (shape.properties.size + shape.clauses.length));
  const properties = new Map(shape.properties);
  const state = { ...shape, properties };
  for (;;) {
    const clauses = settleClauses(types, properties, state.clauses);
    if (clauses === undefined) return undefined;
    const wantedKeys = fixWantedKeys(types, { ...state, clauses });
    if (wantedKeys === undefined) return undefined;
    const settled = clauses.length === state.clauses.length &&
      wantedKeys.length === state.wantedKeys.length;
    Object.assign(state, { clauses, wantedKeys });
    if (settled) break;
  }
  let required = 0;
  let possible = 0;
  for (const { type, required: isNeeded } of properties.values()) {
    if (isNeeded && types.isKnownEmpty(type)) return undefined;
    required += Number(isNeeded);
    possible += Number(type !== NONE);
  }
  const most = state.others.length > 0 ? Infinity : possible;
  if (required > state.max || most < state.min || state.min > state.max) return undefined;
  return {
    ...state,
    min: state.min <= required ? 0 : state.min,
    max: state.max >= most ? Infinity : state.max,
  };
}

/** Drops clauses that hold, and applies single literals; undefined if a clause cannot hold. */
function settleClauses(
  types: TypeAlgebra,
  properties: Map<string, PropertyShape>,
  clauses: readonly Clause[],
): Clause[] | undefined {
  const kept = new Map<string, Clause>();
  for (const clause of clauses) {
    const open: Literal[] = [];
    let holds = false;
    for (const literal of clause) {
      const { type, required } = properties.get(literal.key)!;
      if (type === NONE ? !literal.present : required && literal.present) holds = true;
      const fails = type === NONE ? literal.present : required && !literal.present;
      if (fails || open.some((other) => sameLiteral(other, literal))) continue;
      if (open.some((other) => other.key === literal.key)) holds = true;
      open.push(literal);
    }
    if (holds) continue;
    if (open.length === 0) return undefined;
    if (open.length > 1) {
      // A clause that did not change keeps its cached key.
      const same = open.length === clause.length ? clause : open;
      kept.set(clauseKey(same), same);
      continue;
    }
    const { key, present } = open[0]!;
    const property = properties.get(key)!;
    const type = present ? property.type : NONE;
    if (present && types.isKnownEmpty(type)) return undefined;
    properties.set(key, { ...property, type, required: present });
  }
  return [...kept.values()];
}

function sameLiteral(a: Literal, b: Literal): boolean {
  return a.key === b.key && a.present === b.present;
}

/** Keys by clause, because clauses pass through many combinations of types unchanged. */
const clauseKeys = new WeakMap<Clause, string>();

/** A key that is equal for clauses with the same literals. */
export function clauseKey(clause: Clause): string {
  let name = clauseKeys.get(clause);
  if (name === undefined) {
    name = JSON.stringify(clause.map(({ key, present }) => (present ? "+" : "-") + key).sort());
    clauseKeys.set(clause, name);
  }
  return name;
}

/**
 * Drops wanted keys that are there, and fixes those that only one property can be; undefined if one has
 * none.
 */
function fixWantedKeys(
  types: TypeAlgebra,
  shape: ObjectShape & { properties: Map<string, PropertyShape> },
): Cell[] | undefined {
  const kept: Cell[] = [];
  for (const wanted of shape.wantedKeys) {
    const owners: { key: string; property: PropertyShape }[] = [];
    let holds = false;
    for (const [key, property] of shape.properties) {
      const { type, required } = property;
      if (type === NONE || !types.languages.contains(wanted.keys, key)) continue;
      const both = types.all([type, wanted.type]);
      if (both === type && required) holds = true;
      if (types.isKnownEmpty(both)) continue;
      owners.push({ key, property: { ...property, type: both, required: true } });
    }
    if (holds) continue;
    const elsewhere = shape.others.some((cell) =>
      !types.isKnownEmpty(types.all([cell.type, wanted.type])) &&
      !types.languages.isEmpty(
        undeclared(types, types.languages.intersect(cell.keys, wanted.keys), shape),
      )
    );
    if (elsewhere || owners.length > 1) kept.push(wanted);
    else if (owners.length === 0) return undefined;
    else shape.properties.set(owners[0]!.key, owners[0]!.property);
  }
  return kept;
}

/** The keys of a language that an object does not declare. */
export function undeclared(types: TypeAlgebra, keys: number, shape: ObjectShape): number {
  const { languages } = types;
  const declared = [...shape.properties.keys()].filter((key) => languages.contains(keys, key));
  if (declared.length === 0) return keys;
  return languages.intersect(keys, languages.complement(literals(languages, declared)));
}

/** The ways not to be in an object type, each as an object type. */
function violations(types: TypeAlgebra, shape: ObjectShape): ObjectShape[] {
  const any = anyObject(types.languages);
  const found: ObjectShape[] = [];
  const declare = (keys: readonly string[]): Map<string, PropertyShape> =>
    new Map(keys.map((key) => [key, { type: ANY, required: false }]));
  const presence = (clauses: readonly Clause[]) => {
    const properties = declare(clauses.flatMap((clause) => clause.map(({ key }) => key)));
    found.push({ ...any, properties, clauses });
  };
  const single: Literal[] = [];
  for (const [key, { type, required }] of shape.properties) {
    if (type === NONE) single.push({ key, present: true });
    if (type === NONE ? required : type === ANY && required) single.push({ key, present: false });
    if (type === NONE || type === ANY) continue;
    // If the key is required, its absence is one more way to violate that.
    const wrong = { type: types.not(type), required: !required };
    found.push({ ...any, properties: new Map([[key, wrong]]) });
  }
  for (const clause of shape.clauses) {
    presence(clause.map(({ key, present }) => [{ key, present: !present }]));
  }
  if (single.length > 0) presence([single]);
  if (shape.min > 0) found.push({ ...any, max: shape.min - 1 });
  if (shape.max < Infinity) found.push({ ...any, min: shape.max + 1 });
  let nowhere = types.languages.any();
  for (const { keys, type } of shape.others) {
    nowhere = types.languages.intersect(nowhere, types.languages.complement(keys));
    if (type === ANY) continue;
    found.push(withWanted(any, undeclared(types, keys, shape), types.not(type)));
  }
  found.push(withWanted(any, undeclared(types, nowhere, shape), ANY));
  for (const { keys, type } of shape.wantedKeys) {
    const elsewhere = types.languages.complement(keys);
    const others = [{ keys, type: types.not(type) }, { keys: elsewhere, type: ANY }];
    found.push({ ...any, others: mergeCells(types, others.filter((cell) => cell.type !== NONE)) });
  }
  return found.filter(({ wantedKeys }) =>
    wantedKeys.every(({ keys }) => !types.languages.isEmpty(keys))
  );
}

function withWanted(any: ObjectShape, keys: number, type: number): ObjectShape {
  return { ...any, wantedKeys: [{ keys, type }] };
}
