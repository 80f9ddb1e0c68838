// A JSON Schema as a list of its members with their types, what they mean and what holds by default.

import { text } from "../strings.ts";
import { type Document, resolved, type Schema } from "./types.ts";

/** Deeper than this only the types are told. */
const DEEPEST = 5;

/** The members of a schema. */
export function SchemaTree({ document, schema, depth = 0 }: {
  document: Document;
  schema: Schema;
  depth?: number;
}) {
  const { schema: own } = resolved(document, schema);
  const alternatives = own.anyOf ?? own.oneOf;
  if (alternatives) {
    return (
      <ul class="members">
        {alternatives.map((one, index) => (
          <li key={index}>
            <span class="soft">{text.docs.either}</span> <code>{typeOf(document, one)}</code>
            {depth < DEEPEST && <SchemaTree document={document} schema={one} depth={depth + 1} />}
          </li>
        ))}
      </ul>
    );
  }
  if (own.items) return <SchemaTree document={document} schema={own.items} depth={depth} />;
  const members = Object.entries(own.properties ?? {});
  if (members.length === 0) return null;
  return (
    <ul class="members">
      {members.map(([name, member]) => {
        const { schema: shown } = resolved(document, member);
        const hasMore = isNested(document, member);
        const head = (
          <>
            <code class="member">{name}</code> <span class="soft">{typeOf(document, member)}</span>
            {own.required?.includes(name) && <span class="badge">{text.docs.required}</span>}
            {shown.default !== undefined && (
              <span class="soft">{text.settings.default(JSON.stringify(shown.default))}</span>
            )}
            {shown.description && <span class="field-hint">{shown.description}</span>}
          </>
        );
        return (
          <li key={name}>
            {hasMore && depth < DEEPEST
              ? (
                <details>
                  <summary>{head}</summary>
                  <SchemaTree document={document} schema={member} depth={depth + 1} />
                </details>
              )
              : head}
          </li>
        );
      })}
    </ul>
  );
}

function isNested(document: Document, schema: Schema): boolean {
  const { schema: own } = resolved(document, schema);
  if (own.items) return isNested(document, own.items);
  return own.properties !== undefined || (own.anyOf ?? own.oneOf) !== undefined;
}

function typeOf(document: Document, schema: Schema): string {
  const { schema: own, name } = resolved(document, schema);
  if (own.const !== undefined) return JSON.stringify(own.const);
  if (own.enum) return own.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (own.items) return `${typeOf(document, own.items)}[]`;
  if (name) return name;
  const types = [own.type ?? []].flat().filter((type) => type !== "null");
  if (types.length > 0) return types.join(" | ") + (own.format ? ` (${own.format})` : "");
  const alternatives = own.anyOf ?? own.oneOf;
  return alternatives ? alternatives.map((one) => typeOf(document, one)).join(" | ") : "any";
}
