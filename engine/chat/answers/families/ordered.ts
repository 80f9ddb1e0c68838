// The grammar of arguments in the order of the tool's schema, as in the JSON of schemas, so that
// each occurs once and required ones are not left out.

import { choice, type Grammar, literal, optional, repeat, sequence } from "../../../grammar/mod.ts";
import type { Property } from "./tool_schema.ts";

/** Each argument once, optional ones possibly, with a separator between them. */
export function ordered(
  properties: readonly Property[],
  write: (property: Property) => Grammar,
  separator = "",
): Grammar {
  const perhaps = (part: Grammar, { required }: Property) => required ? part : optional(part);
  if (separator === "") {
    return sequence(...properties.map((property) => perhaps(write(property), property)));
  }
  const others = properties.map((property) =>
    perhaps(sequence(literal(separator), write(property)), property)
  );
  // The first argument determines what may follow.
  const required = properties.findIndex((property) => property.required);
  const firsts = required < 0 ? properties : properties.slice(0, required + 1);
  const lists = firsts.map((property, index) =>
    sequence(write(property), ...others.slice(index + 1))
  );
  return required < 0 ? optional(choice(...lists)) : choice(...lists);
}

/** A part once or, in parallel, several times. White space between them is optional. */
export function separated(part: Grammar, separator: string, parallel = true): Grammar {
  if (!parallel) return part;
  const between = literal(separator);
  return sequence(
    part,
    repeat(sequence(separator.trim() === "" ? optional(between) : between, part)),
  );
}
