// The graph of types: expressions over schemas that are read when they are needed, each evaluated to a
// shape once. Equal expressions have equal ids, which is what ends the intersection of recursive types.
// Evaluation keeps its own stack: chains of references may be as long as the document allows.

import { LanguageError, type Languages } from "../language/mod.ts";
import type { TypeId } from "../types.ts";
import { intersectShapes, onlyOne, subtractShapes, uniteShapes } from "./algebra.ts";
import { AlgebraError, SchemaError } from "./schema_error.ts";
import { ANY, anyShape, isVoid, NO_SHAPE, NONE, type Shape, type TypeAlgebra } from "./shape.ts";

/** Most types that one schema may need. */
const MAX_TYPES = 50_000;
/** Most keys that may be looked at while types are combined, which bounds the time. */
const MAX_STEPS = 1_000_000;
/** How deep the search for emptiness looks before a type is evaluated for good. */
const EMPTINESS_DEPTH = 24;
/** How many references are followed to find what else a value must be. */
const EXPANSION_DEPTH = 8;

/** A schema in its document, which says what it means when it is asked. */
export interface Source {
  readonly pointer: string;
  /** The expression that the schema is. */
  read(): TypeId;
}

type Node =
  | { readonly kind: "shape"; readonly shape: Shape }
  | { readonly kind: "all" | "any" | "one"; readonly parts: readonly TypeId[] }
  | { readonly kind: "not"; readonly part: TypeId }
  | { readonly kind: "source"; readonly source: Source; target?: TypeId };

const KEYWORDS = { all: "allOf", any: "anyOf", one: "oneOf", not: "not", shape: "", source: "" };

/** Types by id; ANY and NONE are always there. */
export class TypeGraph implements TypeAlgebra {
  readonly #nodes: Node[] = [];
  readonly #shapes: (Shape | undefined)[] = [];
  readonly #ids = new Map<string, TypeId>();
  readonly #empty = new Map<TypeId, boolean>();
  readonly #open = new Set<TypeId>();
  #depth = 0;
  #steps = 0;

  /** A graph without schemas. @param languages where its strings live */
  constructor(readonly languages: Languages) {
    this.constant(anyShape(languages));
    this.constant(NO_SHAPE);
  }

  /** A type that is its shape. */
  constant(shape: Shape): TypeId {
    return this.#add({ kind: "shape", shape });
  }

  /** A type that is a schema, yet to be read. */
  source(source: Source): TypeId {
    return this.#add({ kind: "source", source });
  }

  /** The intersection. */
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

  /** The union. */
  any(parts: readonly TypeId[]): TypeId {
    const distinct = [...new Set(parts)].filter((part) => part !== NONE);
    const isWhole = distinct.some((part) => {
      const node = this.#nodes[part]!;
      return part === ANY || node.kind === "not" && distinct.includes(node.part);
    });
    return isWhole ? ANY : this.#combine("any", distinct, NONE);
  }

  /** The values of exactly one of the types. */
  one(parts: readonly TypeId[]): TypeId {
    return this.#combine("one", parts.filter((part) => part !== NONE), NONE);
  }

  /** The complement. */
  not(part: TypeId): TypeId {
    if (part === ANY) return NONE;
    if (part === NONE) return ANY;
    const node = this.#nodes[part]!;
    return node.kind === "not"
      ? node.part
      : this.#shared(`not ${part}`, () => ({ kind: "not", part }));
  }

  /** What a type allows. @throws {SchemaError} if it cannot be said */
  shape(id: TypeId): Shape {
    const shape = this.#evaluate(id);
    if (shape === undefined) throw new AlgebraError("what it allows hangs on itself");
    return shape;
  }

  /** True if the type surely has no value; looks only so deep. */
  isKnownEmpty(id: TypeId): boolean {
    if (id <= NONE) return id === NONE;
    const known = this.#empty.get(id);
    if (known !== undefined) return known;
    if (this.#depth >= EMPTINESS_DEPTH) throw new AlgebraError("it is nested too deep to compare");
    this.#depth += 1;
    try {
      const shape = this.#evaluate(id);
      if (shape === undefined) return false;
      this.#empty.set(id, isVoid(shape));
      return isVoid(shape);
    } catch (error) {
      // Nothing that was found on the way to the limit is kept, so the whole search knows nothing.
      if (!isLimit(error) || this.#depth > 1) throw error;
      this.#empty.set(id, false);
      return false;
    } finally {
      this.#depth -= 1;
    }
  }

  /** Counts steps. @throws {AlgebraError} over the budget */
  spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > MAX_STEPS) throw new AlgebraError("its parts take too long to combine");
  }

  /** What the expression of a type combines. */
  operands(id: TypeId): readonly TypeId[] {
    const node = this.#nodes[id]!;
    return "parts" in node ? node.parts : this.parts(id);
  }

  /** Where the schema of a type is; undefined if it is not one schema. */
  pointer(id: TypeId): string | undefined {
    const node = this.#nodes[id]!;
    return node.kind === "source" ? node.source.pointer : undefined;
  }

  /** The types that a type is made of, at the same place in the value. */
  parts(id: TypeId): readonly TypeId[] {
    const node = this.#nodes[id]!;
    if (node.kind === "shape") return [];
    if (node.kind === "not") return [node.part];
    if (node.kind === "source") return [node.target ??= node.source.read()];
    if (node.kind !== "all") return node.parts;
    return this.#expand(node.parts).flatMap((part) => {
      const inner = this.#nodes[part]!;
      return inner.kind === "not" ? [inner.part] : inner.kind === "one" ? inner.parts : [part];
    });
  }

  /** What an intersection is of: `not` and oneOf behind references are cheaper once all else is known. */
  #expand(parts: readonly TypeId[]): TypeId[] {
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
    if (id === undefined) this.#ids.set(key, id = this.#add(make()));
    return id;
  }

  #add(node: Node): TypeId {
    if (this.#nodes.length >= MAX_TYPES) {
      throw new SchemaError("", "", `its parts combine to more than ${MAX_TYPES} types`);
    }
    this.#shapes.push(node.kind === "shape" ? node.shape : undefined);
    return this.#nodes.push(node) - 1;
  }

  /** Undefined only within a search for emptiness, where the answer hangs on an evaluation under way. */
  #evaluate(root: TypeId): Shape | undefined {
    const path: TypeId[] = [];
    const mine = new Set<TypeId>();
    let next: TypeId | undefined = root;
    try {
      while (next !== undefined || path.length > 0) {
        if (next !== undefined) {
          if (mine.has(next)) throw this.#cyclic(path);
          if (this.#open.has(next)) return undefined;
          path.push(next);
          mine.add(next);
          this.#open.add(next);
        }
        const id = path.at(-1)!;
        next = this.#shapes[id] ? undefined : this.parts(id).find((part) => !this.#shapes[part]);
        if (next !== undefined) continue;
        this.#shapes[id] ??= this.#compute(id);
        path.pop();
        mine.delete(id);
        this.#open.delete(id);
      }
    } catch (error) {
      if (!isLimit(error) || this.#depth > 0) throw error;
      throw this.#located(path, error);
    } finally {
      for (const id of mine) this.#open.delete(id);
    }
    return this.#shapes[root];
  }

  #compute(id: TypeId): Shape {
    const node = this.#nodes[id]!;
    const shape = (part: TypeId) => this.#shapes[part]!;
    switch (node.kind) {
      case "shape":
        return node.shape;
      case "source":
        return shape(node.target!);
      case "not":
        return subtractShapes(this, shape(ANY), shape(node.part));
      case "any":
        return uniteShapes(this, node.parts.map(shape));
      case "one":
        return onlyOne(this, shape(ANY), node.parts.map(shape));
      case "all":
        return this.#allOf(node.parts);
    }
  }

  /** What is simple first: it narrows what must be excluded, and what may be the only one. */
  #allOf(parts: readonly TypeId[]): Shape {
    const nodes = this.#expand(parts).map((id) => ({ id, node: this.#nodes[id]! }));
    let result = this.#shapes[ANY]!;
    for (const { id, node } of nodes) {
      if (node.kind === "not" || node.kind === "one") continue;
      result = intersectShapes(this, result, this.#shapes[id]!);
    }
    for (const { node } of nodes) {
      if (node.kind !== "one") continue;
      result = onlyOne(this, result, node.parts.map((part) => this.#shapes[part]!));
    }
    for (const { node } of nodes) {
      if (node.kind === "not") result = subtractShapes(this, result, this.#shapes[node.part]!);
    }
    return result;
  }

  #located(path: readonly TypeId[], error: Error): SchemaError {
    const pointer = path.findLast((id) => this.pointer(id) !== undefined);
    const { kind } = this.#nodes[path.at(-1)!]!;
    const inner = kind === "all"
      ? this.#expand([path.at(-1)!]).map((id) => this.#nodes[id]!.kind)
      : [];
    const keyword = KEYWORDS[inner.find((part) => part === "one" || part === "not") ?? kind];
    return new SchemaError(
      pointer === undefined ? "" : this.pointer(pointer)!,
      keyword,
      error.message,
    );
  }

  #cyclic(path: readonly TypeId[]): SchemaError {
    const pointer = path.findLast((id) => this.pointer(id) !== undefined)!;
    const reason = "it refers to itself at the same place in the value, without an end";
    return new SchemaError(this.pointer(pointer) ?? "", "$ref", reason);
  }
}

function isLimit(error: unknown): error is Error {
  return error instanceof AlgebraError || error instanceof LanguageError;
}
