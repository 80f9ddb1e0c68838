// WGSL structs of packed records, made from their definitions.

import type { Fields, FieldType, RecordLayout } from "../record.ts";

const TYPES: Record<FieldType, string> = { u32: "u32", f32: "f32", u64: "vec2<u32>" };

/** A snippet that declares a struct for each of these records, with their fields in snake_case. */
export function structs(...layouts: readonly RecordLayout<Fields>[]): string {
  return layouts.map(({ name, fields, bytes }) => {
    const members = Object.entries(fields).map(([field, type], at) => {
      const member = `${snakeCase(field)}: ${TYPES[type]},`;
      // The first member's alignment is that of the struct, and pads it to the length of the
      // record.
      return at === 0 ? `  @align(${Math.min(bytes, 16)}) ${member}` : `  ${member}`;
    });
    return `struct ${name} {\n${members.join("\n")}\n}\n`;
  }).join("");
}

/** A name in snake_case. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
