// The schemas of a document, each once under its name. Where a schema contains another named one, a
// reference takes its place; definitions of a schema (`$defs`) become components as well. That a request
// may have other members which ask for nothing is not told: clients have no reason to send them.

import { type OptionInfo, OPTIONS } from "../../../../engine/mod.ts";
import { nothing } from "../../body/schema.ts";
import { GLOSSARY } from "./glossary.ts";
import type { NamedSchema } from "./operation.ts";

const OWN = "#/$defs/";
const SHARED = "#/components/schemas/";

type Members = Record<string, unknown>;

/** The components of a document. */
export class SchemaComponents {
  readonly #byName = new Map<string, object>();
  readonly #names = new Map<object, string>();

  /**
   * Adds a schema; returns the reference to it.
   *
   * @throws {TypeError} if another one has its name
   */
  add({ name, schema }: Pick<NamedSchema, "name" | "schema">): { $ref: string } {
    const known = this.#byName.get(name);
    if (known === schema) return { $ref: SHARED + name };
    if (known) throw new TypeError(`Cannot describe the API: two schemas have the name "${name}"`);
    this.#byName.set(name, schema);
    this.#names.set(schema, name);
    const { $defs = {} } = schema as { $defs?: Record<string, object> };
    for (const [own, definition] of Object.entries($defs)) {
      this.add({ name: own, schema: definition });
    }
    return { $ref: SHARED + name };
  }

  /** All of them by name. */
  schemas(): Record<string, object> {
    return Object.fromEntries(
      this.#byName.entries().map(([name, schema]) => [
        name,
        withDescriptions(this.#members(schema as Members), name),
      ]),
    );
  }

  #copy(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((element) => this.#copy(element));
    if (typeof value !== "object" || value === null) return value;
    if (value === nothing) return false;
    const name = this.#names.get(value);
    return name === undefined ? this.#members(value as Members) : { $ref: SHARED + name };
  }

  #members({ $defs: _, ...members }: Members): Members {
    return Object.fromEntries(
      Object.entries(members).map(([name, value]) => [
        name,
        name === "$ref" && typeof value === "string"
          ? value.replace(OWN, SHARED)
          : this.#copy(value),
      ]),
    );
  }
}

/** Keywords that contain values, and no schemas. */
const VALUES = ["const", "enum", "default", "examples"];

/** What forms that set options show of them: titles, bounds, and what holds without them, by name. */
const FORMS: ReadonlyMap<string, object> = new Map(
  Object.values<OptionInfo>(OPTIONS).filter(({ title }) => title !== undefined).map((
    { name, title, help, minimum, maximum, standard, default: value },
  ) => [name, {
    title,
    "x-form": { help, minimum, maximum, standard: `${value ?? standard}` },
  }]),
);

/**
 * A schema whose members have the descriptions of the glossary where they have none of their own.
 *
 * @param areOptions whether its members are options of a request
 */
function withDescriptions(schema: Members, component: string, areOptions = false): Members {
  const descend = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(descend);
    if (typeof value !== "object" || value === null) return value;
    return withDescriptions(value as Members, component);
  };
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (VALUES.includes(key)) return [key, value];
      if (key !== "properties") return [key, descend(value)];
      const members = Object.entries(value as Record<string, Members>).map(([name, member]) => {
        const description = GLOSSARY[`${component}.${name}`] ?? GLOSSARY[name];
        const isClear = "description" in member || "const" in member || description === undefined;
        const described = withDescriptions(member, component, name === "options");
        const form = areOptions ? FORMS.get(name) : undefined;
        return [name, { ...form, ...described, ...(!isClear && { description }) }];
      });
      return [key, Object.fromEntries(members)];
    }),
  );
}
