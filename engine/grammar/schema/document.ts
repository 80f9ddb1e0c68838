// A schema document: where each schema stands, what it is called ($id, $anchor), and what a reference
// means (RFC 3986, RFC 6901, JSON Schema Core 8 and 9). Nothing is ever fetched. Documents are walked
// with recursion, as their reader caps how deep they nest.

import type { JsonObject, JsonValue } from "../json/mod.ts";
import { KeywordReader } from "./keyword_reader.ts";
import { type Draft, SUBSCHEMAS } from "./keywords.ts";
import { SchemaError } from "./schema_error.ts";

/** Where a value stands: its container, and its key there. */
interface Place {
  readonly parent: JsonValue;
  readonly key: string;
  readonly resource: Resource;
}

/** A schema with an identifier of its own, and all that is within. */
interface Resource {
  readonly root: JsonValue;
  readonly uri: string;
  /** Schemas by plain name. */
  readonly anchors: Map<string, JsonValue>;
}

/** Stands for the document's place in the world if it has no $id. */
const DEFAULT_URI = "schema:///";
const DRAFTS: readonly [RegExp, Draft][] = [
  [/draft-0?[34]/, 4],
  [/draft-06/, 6],
  [/draft-07/, 7],
  [/2019-09/, 2019],
];

/** The places and names of one document. */
export class SchemaDocument {
  /** The edition that `$schema` names. */
  readonly draft: Draft;
  readonly #places = new Map<JsonValue, Place>();
  readonly #resources = new Map<string, Resource>();
  readonly #dynamicAnchors = new Map<string, JsonValue[]>();
  #recursiveAnchors = 0;

  /** Walks a document. @param root its root schema */
  constructor(readonly root: JsonValue) {
    const declared = root instanceof Map ? root.get("$schema") : undefined;
    const known = DRAFTS.find(([pattern]) =>
      typeof declared === "string" && pattern.test(declared)
    );
    this.draft = known?.[1] ?? 2020;
    this.#walk(root, null, "", this.#addResource(root, DEFAULT_URI), true);
  }

  /** The JSON pointer of an array or object of the document. */
  pointer(value: JsonValue): string {
    const keys: string[] = [];
    for (let place = this.#places.get(value); place && place.parent !== null;) {
      keys.push(place.key.replaceAll("~", "~0").replaceAll("/", "~1"));
      place = this.#places.get(place.parent);
    }
    return keys.reverse().map((key) => `/${key}`).join("");
  }

  /** The keywords of a schema of the document. */
  keywords(schema: JsonObject): KeywordReader {
    return new KeywordReader(schema, this.pointer(schema), this.draft);
  }

  /** What a `$ref` in a schema means. @throws {SchemaError} if it leads out of the document or nowhere */
  resolve(schema: JsonObject, reference: string): JsonValue {
    return this.#resolve(schema, "$ref", reference);
  }

  /** What a `$dynamicRef` or `$recursiveRef` means. @throws {SchemaError} if that depends on the caller */
  resolveDynamic(schema: JsonObject, keyword: string, reference: string): JsonValue {
    const target = this.#resolve(schema, keyword, reference);
    if (!(target instanceof Map)) return target;
    if (keyword === "$recursiveRef") {
      if (target.get("$recursiveAnchor") === true && this.#recursiveAnchors > 1) {
        throw this.#ambiguous(schema, keyword);
      }
      return target;
    }
    const name = target.get("$dynamicAnchor");
    if (typeof name !== "string" || !reference.endsWith(`#${name}`)) return target;
    if (this.#dynamicAnchors.get(name)!.length > 1) throw this.#ambiguous(schema, keyword);
    return target;
  }

  #ambiguous(schema: JsonObject, keyword: string): SchemaError {
    const reason = "more than one schema may be meant, which only the way to it would tell";
    return new SchemaError(this.pointer(schema), keyword, reason);
  }

  #resolve(schema: JsonObject, keyword: string, reference: string): JsonValue {
    const fail = (reason: string) => new SchemaError(this.pointer(schema), keyword, reason);
    const uri = absolute(reference, this.#places.get(schema)!.resource.uri);
    if (uri === undefined) throw fail(`"${reference}" is not a URI reference`);
    const hash = uri.indexOf("#");
    const base = hash < 0 ? uri : uri.slice(0, hash);
    const resource = this.#resources.get(base);
    if (resource === undefined) throw fail(`"${reference}" is not in this document`);
    const fragment = decode(hash < 0 ? "" : uri.slice(hash + 1));
    if (fragment === undefined) throw fail(`"${reference}" is not a URI reference`);
    const target = fragment === "" || fragment.startsWith("/")
      ? follow(resource.root, fragment)
      : resource.anchors.get(fragment);
    if (target === undefined) throw fail(`"${reference}" leads nowhere in this document`);
    return target;
  }

  #addResource(root: JsonValue, uri: string): Resource {
    const resource = { root, uri, anchors: new Map<string, JsonValue>() };
    if (!this.#resources.has(uri)) this.#resources.set(uri, resource);
    return resource;
  }

  #walk(
    value: JsonValue,
    parent: JsonValue,
    key: string,
    resource: Resource,
    isSchema: boolean,
  ): void {
    if (typeof value !== "object" || value === null) return;
    if (!(value instanceof Map)) {
      if (!Array.isArray(value)) return;
      this.#places.set(value, { parent, key, resource });
      value.forEach((item, i) => this.#walk(item, value, String(i), resource, isSchema));
      return;
    }
    const inner = isSchema ? this.#name(value, resource) : resource;
    this.#places.set(value, { parent, key, resource: inner });
    for (const [name, member] of value) {
      const holds = isSchema ? SUBSCHEMAS.get(name) : undefined;
      if (holds !== "named" || !(member instanceof Map)) {
        this.#walk(member, value, name, inner, holds !== undefined);
        continue;
      }
      this.#places.set(member, { parent: value, key: name, resource: inner });
      for (const [property, schema] of member) this.#walk(schema, member, property, inner, true);
    }
  }

  /** Notes what a schema is called; returns the resource that it is part of. */
  #name(schema: JsonObject, outer: Resource): Resource {
    if (this.draft <= 7 && schema.has("$ref")) return outer;
    let resource = outer;
    const id = schema.get(this.draft === 4 ? "id" : "$id");
    if (typeof id === "string") {
      if (id.startsWith("#")) {
        outer.anchors.set(id.slice(1), schema);
      } else {
        const uri = absolute(id, outer.uri)?.replace(/#.*/, "");
        if (uri !== undefined) resource = this.#addResource(schema, uri);
      }
    }
    const anchor = schema.get("$anchor");
    if (typeof anchor === "string") resource.anchors.set(anchor, schema);
    const dynamic = schema.get("$dynamicAnchor");
    if (typeof dynamic === "string") {
      resource.anchors.set(dynamic, schema);
      this.#dynamicAnchors.set(dynamic, [...this.#dynamicAnchors.get(dynamic) ?? [], schema]);
    }
    if (schema.get("$recursiveAnchor") === true) this.#recursiveAnchors += 1;
    return resource;
  }
}

function absolute(reference: string, base: string): string | undefined {
  return URL.parse(reference, base)?.href;
}

function decode(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
}

/** The value at a JSON pointer. */
function follow(root: JsonValue, pointer: string): JsonValue | undefined {
  let value: JsonValue | undefined = root;
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (value instanceof Map) value = value.get(key);
    else if (Array.isArray(value)) value = value[Number(key)];
    else return undefined;
  }
  return value;
}
