// A schema document: the locations of its schemas, their names ($id, $anchor), and the targets of
// references (RFC 3986, RFC 6901, JSON Schema Core 8 and 9). Nothing is ever fetched; only the
// metaschemas are known in addition, and a path such as "/$defs/x" may be a pointer without its "#".
// Documents are walked by recursion, because their reader limits their depth.

import { pollCancellation } from "../../cancellation.ts";
import type { JsonObject, JsonValue } from "../json/mod.ts";
import { type Draft, KeywordReader, SUBSCHEMAS } from "./keyword_reader.ts";
import { metaschema } from "./metaschemas.ts";
import { DanglingReferenceError, SchemaError } from "./schema_error.ts";

/** The location of a value: its container, and its key there. */
interface Location {
  readonly parent: JsonValue;
  readonly key: string;
  readonly resource: Resource;
}

/** A schema with an identifier of its own, and everything within it. */
interface Resource {
  readonly root: JsonValue;
  readonly uri: string;
  /** The edition of JSON Schema that it uses. */
  readonly draft: Draft;
  /** Schemas by plain name. */
  readonly anchors: Map<string, JsonValue>;
  /** Those that dynamic references may refer to; that of $recursiveAnchor has the name "". */
  readonly dynamicAnchors: Map<string, JsonObject>;
}

/**
 * The targets of dynamic references on the path to a schema: for each name, the schema of the
 * outermost resource that has one. Equal scopes are identical.
 */
export interface DynamicScope {
  readonly id: number;
  readonly anchors: ReadonlyMap<string, JsonObject>;
}

/** The document's URI if it has no $id. */
const DEFAULT_URI = "schema:///";
const DRAFTS: readonly [RegExp, Draft][] = [
  [/draft-0?[34]/, 4],
  [/draft-06/, 6],
  [/draft-07/, 7],
  [/2019-09/, 2019],
];

/** The locations and names of one document. */
export class SchemaDocument {
  /** The scope outside of all resources. */
  readonly outside: DynamicScope = { id: 0, anchors: new Map() };
  readonly #locations = new Map<JsonValue, Location>();
  readonly #resources = new Map<string, Resource>();
  readonly #scopes = new Map<string, DynamicScope>([["", this.outside]]);
  readonly #anchorIds = new Map<JsonObject, number>();

  /** The edition that the root uses. */
  readonly draft: Draft;

  /** @param root the root schema of the document */
  constructor(readonly root: JsonValue) {
    this.draft = this.#add(root, DEFAULT_URI).draft;
  }

  /** The value at a JSON pointer; null if there is none. */
  at(pointer: string): JsonValue {
    return follow(this.root, pointer) ?? null;
  }

  /** The JSON pointer of an array or object of the document. */
  pointer(value: JsonValue): string {
    const keys: string[] = [];
    for (let location = this.#locations.get(value); location && location.parent !== null;) {
      keys.push(location.key.replaceAll("~", "~0").replaceAll("/", "~1"));
      location = this.#locations.get(location.parent);
    }
    return keys.reverse().map((key) => `/${key}`).join("");
  }

  keywords(schema: JsonObject): KeywordReader {
    const { draft } = this.#locations.get(schema)!.resource;
    return new KeywordReader(schema, () => this.pointer(schema), draft);
  }

  /** The scope within a schema. @param scope the scope of the path that leads to it */
  enter(scope: DynamicScope, schema: JsonObject): DynamicScope {
    const { dynamicAnchors } = this.#locations.get(schema)!.resource;
    const found = [...dynamicAnchors].filter(([name]) => !scope.anchors.has(name));
    if (found.length === 0) return scope;
    const anchors = new Map([...scope.anchors, ...found]);
    const key = [...anchors.values()].map((anchor) => this.#anchorIds.get(anchor)).sort().join(" ");
    let inner = this.#scopes.get(key);
    if (inner === undefined) this.#scopes.set(key, inner = { id: this.#scopes.size, anchors });
    return inner;
  }

  /**
   * The target of a `$ref` in a schema. @throws {SchemaError} if it is outside of the document or
   * missing
   */
  resolve(schema: JsonObject, reference: string): JsonValue {
    return this.#resolve(schema, "$ref", reference);
  }

  /**
   * The target of the `$dynamicRef` or `$recursiveRef` of a schema. @param scope the scope within
   * it
   */
  dynamicTargets(keywords: KeywordReader, scope: DynamicScope): JsonValue[] {
    const { schema } = keywords;
    return ["$dynamicRef", "$recursiveRef"].flatMap((keyword) => {
      const reference = keywords.text(keyword);
      if (reference === undefined) return [];
      const target = this.#resolve(schema, keyword, reference);
      if (!(target instanceof Map)) return [target];
      const isRecursive = keyword === "$recursiveRef";
      const name = isRecursive ? "" : reference.slice(reference.indexOf("#") + 1);
      const isDynamic = isRecursive
        ? target.get("$recursiveAnchor") === true
        : target.get("$dynamicAnchor") === name;
      return [isDynamic ? scope.anchors.get(name) ?? target : target];
    });
  }

  #resolve(schema: JsonObject, keyword: string, reference: string): JsonValue {
    const own = this.#locations.get(schema)!.resource;
    const target = this.#named(reference, own) ?? this.#atPath(reference, own);
    if (typeof target === "boolean" || target instanceof Map) return target;
    const pointer = this.pointer(schema);
    if (target === undefined && isElsewhere(reference)) {
      const reason = `"${reference}" is not in this document, and nothing is fetched`;
      throw new SchemaError(pointer, keyword, `${reason}: move it to "$defs"`);
    }
    const reason = target === undefined
      ? `"${reference}" leads nowhere in this document${this.#advice(reference)}`
      : `what "${reference}" leads to is no schema`;
    throw new DanglingReferenceError(pointer, keyword, reason);
  }

  /** The target of a reference by its URI. */
  #named(reference: string, own: Resource): JsonValue | undefined {
    const uri = absolute(reference, own.uri);
    if (uri === undefined) return undefined;
    const [, base = "", fragment = ""] = /^([^#]*)#?([^]*)$/.exec(uri)!;
    const resource = this.#resources.get(base) ?? this.#addMetaschema(base);
    const name = decode(fragment);
    if (resource === undefined || name === undefined) return undefined;
    const isPointer = name === "" || name.startsWith("/");
    return isPointer ? follow(resource.root, name) : resource.anchors.get(name);
  }

  /** The target of a reference that is a path, read as a pointer whose "#" was forgotten. */
  #atPath(reference: string, { root }: Resource): JsonValue | undefined {
    const pointer = decode(reference);
    if (!pointer?.startsWith("/")) return undefined;
    return follow(root, pointer) ?? follow(this.root, pointer);
  }

  /** The reference that was perhaps meant, for a message. */
  #advice(reference: string): string {
    const path = reference.replace(/^#?\/?/, "");
    const last = path.split("/").at(-1)!;
    const meant = [path, `$defs/${last}`, `definitions/${last}`]
      .find((pointer) => follow(this.root, `/${pointer}`) !== undefined);
    return last === "" || meant === undefined ? "" : `; "#/${meant}" is there`;
  }

  #add(root: JsonValue, uri: string): Resource {
    const resource = this.#addResource(root, uri, 2020);
    this.#walk(root, null, "", resource, true);
    return resource;
  }

  #addMetaschema(uri: string): Resource | undefined {
    const schema = metaschema(uri);
    return schema === undefined ? undefined : this.#add(schema, uri);
  }

  #addResource(root: JsonValue, uri: string, outer: Draft): Resource {
    const added = this.#resources.get(uri);
    if (added?.root === root) return added;
    const declared = root instanceof Map ? root.get("$schema") : undefined;
    const known = DRAFTS.find(([pattern]) =>
      typeof declared === "string" && pattern.test(declared)
    );
    const draft = typeof declared === "string" ? known?.[1] ?? 2020 : outer;
    const resource = { root, uri, draft, anchors: new Map(), dynamicAnchors: new Map() };
    if (added === undefined) this.#resources.set(uri, resource);
    return resource;
  }

  #walk(
    value: JsonValue,
    parent: JsonValue,
    key: string,
    resource: Resource,
    isSchema: boolean,
  ): void {
    pollCancellation();
    if (typeof value !== "object" || value === null) return;
    if (!(value instanceof Map)) {
      if (!Array.isArray(value)) return;
      this.#locations.set(value, { parent, key, resource });
      value.forEach((item, i) => this.#walk(item, value, String(i), resource, isSchema));
      return;
    }
    const inner = isSchema ? this.#name(value, resource) : resource;
    this.#locations.set(value, { parent, key, resource: inner });
    for (const [name, member] of value) {
      const holds = isSchema ? SUBSCHEMAS.get(name) : undefined;
      if (holds !== "named" || !(member instanceof Map)) {
        this.#walk(member, value, name, inner, holds !== undefined);
        continue;
      }
      this.#locations.set(member, { parent: value, key: name, resource: inner });
      for (const [property, schema] of member) this.#walk(schema, member, property, inner, true);
    }
  }

  /** Notes the names of a schema; returns the resource that contains it. */
  #name(schema: JsonObject, outer: Resource): Resource {
    const { draft } = outer;
    if (draft <= 7 && schema.has("$ref")) return outer;
    let resource = outer;
    const id = schema.get(draft === 4 ? "id" : "$id");
    if (typeof id === "string") {
      if (id.startsWith("#")) {
        outer.anchors.set(id.slice(1), schema);
      } else {
        const uri = absolute(id, outer.uri)?.replace(/#.*/, "");
        if (uri !== undefined) resource = this.#addResource(schema, uri, draft);
      }
    }
    const anchor = schema.get("$anchor");
    if (typeof anchor === "string") resource.anchors.set(anchor, schema);
    const dynamic = schema.get("$dynamicAnchor");
    if (typeof dynamic === "string") {
      resource.anchors.set(dynamic, schema);
      this.#addDynamic(resource, dynamic, schema);
    }
    const isRoot = resource.root === schema;
    if (isRoot && schema.get("$recursiveAnchor") === true) this.#addDynamic(resource, "", schema);
    return resource;
  }

  #addDynamic(resource: Resource, name: string, schema: JsonObject): void {
    resource.dynamicAnchors.set(name, schema);
    this.#anchorIds.set(schema, this.#anchorIds.size);
  }
}

/** Whether a reference is a whole URI, of something that is not here. */
function isElsewhere(reference: string): boolean {
  return URL.canParse(reference) && !reference.startsWith(DEFAULT_URI);
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

function follow(root: JsonValue, pointer: string): JsonValue | undefined {
  let value: JsonValue | undefined = root;
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (value instanceof Map) value = value.get(key);
    else if (Array.isArray(value)) value = /^(?:0|[1-9]\d*)$/.test(key) ? value[+key] : undefined;
    else return undefined;
  }
  return value;
}
