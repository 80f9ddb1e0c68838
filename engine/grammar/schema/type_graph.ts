// The graph of types: expressions, each of which is evaluated to a shape once. Evaluation has its
// own stack, because chains of references may be as long as the document allows.

import { pollCancellation } from "../../cancellation.ts";
import type { Languages } from "../language/mod.ts";
import type { TypeId } from "../types.ts";
import { fewScalars, type FewValues } from "./schema_input.ts";
import { intersectShapes, subtractShapes, uniteShapes } from "./algebra.ts";
import { onlyOne } from "./one_of.ts";
import { AlgebraError, isLimit, SchemaError } from "./schema_error.ts";
import { TypeExpressions } from "./type_expressions.ts";
import {
  ANY,
  anyShape,
  isVoid,
  NO_SHAPE,
  NONE,
  type ObjectShape,
  type Shape,
  type TypeAlgebra,
} from "./shape.ts";

/** Most keys that are examined while types are combined, which limits the time. */
const MAX_STEPS = 500_000;
/** Depth of a search for emptiness, before a type is evaluated. */
const EMPTINESS_DEPTH = 8;
/** Most values of a type by which objects are distinguished. */
const FEW_VALUES = 64;
/** One error for all, because it is thrown so often that stack traces would take long. */
const TOO_DEEP = new AlgebraError("it is nested too deep to compare");

const KEYWORDS = { all: "allOf", any: "anyOf", one: "oneOf", not: "not", shape: "", source: "" };

/** Types by id. ANY and NONE are always there. */
export class TypeGraph extends TypeExpressions implements TypeAlgebra {
  readonly #shapes: (Shape | undefined)[] = [];
  readonly #empty = new Map<TypeId, boolean | undefined>();
  readonly #values = new Map<TypeId, FewValues>();
  readonly #open = new Set<TypeId>();
  #depth = 0;
  #steps = 0;

  /** The type of every object. */
  readonly anyObject: ObjectShape;

  /**
   * @param languages the languages of strings
   * @param closesObjects whether objects that declare keys must not have others
   */
  constructor(readonly languages: Languages, readonly closesObjects = false) {
    super();
    const any = anyShape(languages);
    this.anyObject = any.objects[0]!;
    this.constant(any);
    this.constant(NO_SHAPE);
  }

  /** A type with a known shape. */
  override constant(shape: Shape): TypeId {
    const id = super.constant(shape);
    this.#shapes[id] = shape;
    return id;
  }

  /** All objects with a key. */
  withKey(key: string): TypeId {
    const properties = new Map([[key, { type: ANY, required: true }]]);
    return this.constant({ ...NO_SHAPE, objects: [{ ...this.anyObject, properties }] });
  }

  /** All values but objects with a key. */
  withoutKey(key: string): TypeId {
    const properties = new Map([[key, { type: NONE, required: false }]]);
    const objects = [{ ...this.anyObject, properties }];
    return this.constant({ ...anyShape(this.languages), objects });
  }

  /** The shape of a type. @throws {SchemaError} if it cannot be expressed */
  shape(id: TypeId): Shape {
    const shape = this.#evaluate(id);
    if (shape === undefined) throw new AlgebraError("what it allows hangs on itself");
    return shape;
  }

  /** True if the type certainly has no value. The depth of the search is limited. */
  isKnownEmpty(id: TypeId): boolean {
    return id === NONE || id !== ANY && this.#look(id, this.#empty, isVoid) === true;
  }

  /** The values of a type of few strings and numbers, as texts; undefined for all others. */
  fewValues(id: TypeId): FewValues {
    return this.#look(id, this.#values, (shape) => {
      const isScalar = shape.arrays.length === 0 && shape.objects.length === 0;
      return isScalar ? fewScalars(this.languages, shape, FEW_VALUES) : undefined;
    });
  }

  /** The result for a shape, which is cached; undefined if it is too deep. */
  #look<T>(id: TypeId, known: Map<TypeId, T | undefined>, say: (shape: Shape) => T): T | undefined {
    if (known.has(id)) return known.get(id);
    if (this.#depth >= EMPTINESS_DEPTH) throw TOO_DEEP;
    this.#depth += 1;
    try {
      const shape = this.#evaluate(id);
      if (shape === undefined) return undefined;
      const said = say(shape);
      known.set(id, said);
      return said;
    } catch (error) {
      // If the limit was reached, intermediate results are not kept, because they may be wrong.
      if (!isLimit(error) || this.#depth > 1) throw error;
      known.set(id, undefined);
      return undefined;
    } finally {
      this.#depth -= 1;
    }
  }

  /** Counts steps. @throws {AlgebraError} if the budget is spent */
  spend(steps: number): void {
    pollCancellation();
    this.languages.work.charge(steps);
    this.#steps += steps;
    if (this.#steps > MAX_STEPS) throw new AlgebraError("its parts take too long to combine");
  }

  /**
   * Undefined only within a search for emptiness, if the answer depends on an evaluation that has
   * not ended.
   */
  #evaluate(root: TypeId): Shape | undefined {
    const path: { readonly id: TypeId; readonly parts: readonly TypeId[]; next: number }[] = [];
    const mine = new Set<TypeId>();
    try {
      for (let enter: TypeId | undefined = root; enter !== undefined || path.length > 0;) {
        if (enter !== undefined) {
          if (mine.has(enter)) throw this.#cyclic([...mine]);
          if (this.#open.has(enter)) return undefined;
          mine.add(enter);
          this.#open.add(enter);
          path.push({ id: enter, parts: this.#shapes[enter] ? [] : this.parts(enter), next: 0 });
        }
        const last = path.at(-1)!;
        while (last.next < last.parts.length && this.#shapes[last.parts[last.next]!]) last.next++;
        enter = last.parts[last.next];
        if (enter !== undefined) continue;
        this.#shapes[last.id] ??= this.#compute(last.id);
        path.pop();
        mine.delete(last.id);
        this.#open.delete(last.id);
      }
    } catch (error) {
      if (!isLimit(error) || this.#depth > 0) throw error;
      throw this.#located([...mine], error);
    } finally {
      for (const id of mine) this.#open.delete(id);
    }
    return this.#shapes[root];
  }

  #compute(id: TypeId): Shape {
    pollCancellation();
    const node = this.node(id);
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

  /** Simple operands come first: they reduce what has to be excluded, and may be the only ones. */
  #allOf(parts: readonly TypeId[]): Shape {
    const nodes = this.expand(parts).map((id) => ({ id, node: this.node(id) }));
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
    const { kind } = this.node(path.at(-1)!);
    const kinds = kind === "all" ? this.expand([path.at(-1)!]).map((id) => this.node(id).kind) : [];
    const keyword = KEYWORDS[kinds.find((part) => part === "one" || part === "not") ?? kind];
    return new SchemaError(this.#pointerOf(path), keyword, error.message);
  }

  #cyclic(path: readonly TypeId[]): SchemaError {
    const reason = "it refers to itself at the same place in the value, without an end";
    return new SchemaError(this.#pointerOf(path), "$ref", reason);
  }

  /** The pointer of the innermost schema on a path. */
  #pointerOf(path: readonly TypeId[]): string {
    return path.map((id) => this.pointer(id)).findLast((pointer) => pointer !== undefined) ?? "";
  }
}
