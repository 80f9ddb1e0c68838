// A slow and plain judge of the types that readSchema makes: whether a value is in one, by looking at
// the value as a whole. The order of keys does not matter to it. It recurses over the value.

import { Decimal, type JsonValue } from "../../../../engine/grammar/json/mod.ts";
import type { Languages } from "../../../../engine/grammar/language/mod.ts";
import { hasNumber } from "../../../../engine/grammar/number/mod.ts";
import { canonical } from "../../../../engine/grammar/schema/schema_input.ts";
import type {
  ArrayType,
  ObjectType,
  SchemaTypes,
  TypeId,
} from "../../../../engine/grammar/types.ts";

/** True if a value is in a type; the root by default. */
export function accepts(
  types: SchemaTypes,
  languages: Languages,
  value: JsonValue,
  id: TypeId = types.root,
): boolean {
  const type = types.types[id]!;
  if (value === null) return type.null === true;
  if (typeof value === "boolean") return type.booleans?.includes(value) ?? false;
  if (value instanceof Decimal) return type.numbers !== undefined && hasNumber(type.numbers, value);
  if (typeof value === "string") {
    const length = [...value].length;
    return type.strings !== undefined && length >= type.strings.min &&
      length <= type.strings.max && languages.contains(type.strings.language, value);
  }
  const inside = (item: JsonValue, child: TypeId) => accepts(types, languages, item, child);
  if (value instanceof Map) {
    return type.objects?.some((object) => isObject(object, languages, value, inside)) ?? false;
  }
  const items = value as readonly JsonValue[];
  return type.arrays?.some((array) => isArray(array, items, inside)) ?? false;
}

type Judge = (value: JsonValue, type: TypeId) => boolean;

function isArray(type: ArrayType, items: readonly JsonValue[], inside: Judge): boolean {
  if (items.length < type.min || items.length > type.max) return false;
  if (type.unique && new Set(items.map(canonical)).size < items.length) return false;
  const counts = type.contains.map(() => 0);
  for (const [i, item] of items.entries()) {
    const child = type.prefix[i] ?? type.rest;
    if (child === undefined || !inside(item, child)) return false;
    if (counts.length === 0) continue;
    const part = type.splits!.get(child)!.filter((part) => inside(item, part.type));
    if (part.length > 1) throw new Error(`An item is in ${part.length} parts of its type`);
    if (part.length === 0) return false;
    part[0]!.counts.forEach((counted, at) => counts[at]! += Number(counted));
  }
  return type.contains.every(({ min, max }, at) => counts[at]! >= min && counts[at]! <= max);
}

function isObject(
  type: ObjectType,
  languages: Languages,
  members: ReadonlyMap<string, JsonValue>,
  inside: Judge,
): boolean {
  if (members.size < type.min || members.size > type.max) return false;
  const declared = new Map(type.properties.map((property) => [property.key, property]));
  for (const { key, required } of type.properties) {
    if (required && !members.has(key)) return false;
  }
  for (const [key, member] of members) {
    const child = declared.get(key)?.type ??
      type.others.find((other) => languages.contains(other.keys, key))?.type;
    if (child === undefined || !inside(member, child)) return false;
  }
  return type.clauses.every((clause) =>
    clause.some(({ key, present }) => members.has(key) === present)
  );
}
