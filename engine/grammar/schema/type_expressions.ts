// Expressions over types, by id: schemas that are read when needed, and their combinations. Equal
// expressions have equal ids, which makes the intersection of recursive types end. type_graph.ts
// finds out what an expression allows.

import type { TypeId } from "../types.ts";
import { SchemaError } from "./schema_error.ts";
import { ANY, NONE, type Shape } from "./shape.ts";

/** Most types that one schema may need, for itself and for combinations. */
const MAX_TYPES = 150_000;
const MAX_COMBINED = 50_000;
/** Most references that are followed to find what else a value must be. */
const EXPANSION_DEPTH = 8;

/** A schema in its document, which can be read. */
export interface Source {
  readonly keywords: { readonly pointer: string };
  /** The expression of the schema. */
  read(): TypeId;
}

/** An expression. */
export type Node =
  | { readonly kind: "shape"; readonly shape: Shape }
  | { readonly kind: "all" | "any" | "one"; readonly parts: readonly TypeId[] }
  | { readonly kind: "not"; readonly part: TypeId }
  | { readonly kind: "source"; readonly source: Source; target?: TypeId };

/** Expressions by id. */
export class TypeExpressions {
  readonly #nodes: Node[] = [];
  readonly #ids = new Map<string, TypeId>();

  node(id: TypeId): Node {
    return this.#nodes[id]!;
  }

  /** A type with a known shape. */
  constant(shape: Shape): TypeId {
    return this.#add({ kind: "shape", shape });
  }

  /** The type of a schema that is read when needed. */
  source(source: Source): TypeId {
    return this.#add({ kind: "source", source });
  }

  /** The intersection of types. */
  all(parts: readonly TypeId[]): TypeId {
    const flat = new Set<TypeId>();
    for (const part of parts) {
      const node = this.#nodes[part]!;
      if (part === NONE) return NONE;
      if (node.kind === "all") node.parts.forEach((inner) => flat.add(inner));
      else if (part !== ANY) flat.add(part);
    }
    for (const part of flat) {
      const node = this.#nodes[part]!;
      if (node.kind === "not" && flat.has(node.part)) return NONE;
    }
    return this.#combine("all", [...flat], ANY);
  }

  /** The union of types. */
  any(parts: readonly TypeId[]): TypeId {
    const distinct = [...new Set(parts)].filter((part) => part !== NONE);
    const isWhole = distinct.some((part) => {
      const node = this.#nodes[part]!;
      return part === ANY || node.kind === "not" && distinct.includes(node.part);
    });
    return isWhole ? ANY : this.#combine("any", distinct, NONE);
  }

  /** The values that are in exactly one of the types. */
  one(parts: readonly TypeId[]): TypeId {
    return this.#combine("one", parts.filter((part) => part !== NONE), NONE);
  }

  /** The complement of a type. */
  not(part: TypeId): TypeId {
    if (part === ANY) return NONE;
    if (part === NONE) return ANY;
    const node = this.#nodes[part]!;
    return node.kind === "not"
      ? node.part
      : this.#shared(`not ${part}`, () => ({ kind: "not", part }));
  }

  /** The types that the expression of a type combines. */
  operands(id: TypeId): readonly TypeId[] {
    const node = this.#nodes[id]!;
    return "parts" in node ? node.parts : this.parts(id);
  }

  /** The location of the schema of a type; undefined if it is not one schema. */
  pointer(id: TypeId): string | undefined {
    const node = this.#nodes[id]!;
    return node.kind === "source" ? node.source.keywords.pointer : undefined;
  }

  /** The types that a type is made of, at the same position in the value. */
  parts(id: TypeId): readonly TypeId[] {
    const node = this.#nodes[id]!;
    if (node.kind === "shape") return [];
    if (node.kind === "not") return [node.part];
    if (node.kind === "source") return [node.target ??= node.source.read()];
    if (node.kind !== "all") return node.parts;
    return this.expand(node.parts).flatMap((part) => {
      const inner = this.#nodes[part]!;
      return inner.kind === "not" ? [inner.part] : inner.kind === "one" ? inner.parts : [part];
    });
  }

  /**
   * The parts of an intersection: `not` and oneOf behind references take less once everything else
   * is known.
   */
  expand(parts: readonly TypeId[]): TypeId[] {
    const expanded = new Set(parts);
    for (let depth = 0; depth < EXPANSION_DEPTH; depth++) {
      const open = [...expanded].filter((part) =>
        this.#nodes[part]!.kind === "source" || this.#nodes[part]!.kind === "all"
      );
      if (open.length === 0) break;
      for (const part of open) {
        const node = this.#nodes[part]!;
        expanded.delete(part);
        (node.kind === "all" ? node.parts : this.parts(part)).forEach((id) => expanded.add(id));
      }
    }
    return [...expanded];
  }

  #combine(kind: "all" | "any" | "one", parts: readonly TypeId[], neutral: TypeId): TypeId {
    if (parts.length <= 1) return parts[0] ?? neutral;
    const key = [...parts].sort((a, b) => a - b).join(" ");
    return this.#shared(`${kind} ${key}`, () => ({ kind, parts }));
  }

  #shared(key: string, make: () => Node): TypeId {
    let id = this.#ids.get(key);
    if (id !== undefined) return id;
    if (this.#ids.size >= MAX_COMBINED) {
      throw new SchemaError("", "", `its parts combine to more than ${MAX_COMBINED} types`);
    }
    this.#ids.set(key, id = this.#add(make()));
    return id;
  }

  #add(node: Node): TypeId {
    if (this.#nodes.length >= MAX_TYPES) {
      throw new SchemaError("", "", `it has more than ${MAX_TYPES} schemas and values`);
    }
    return this.#nodes.push(node) - 1;
  }
}
