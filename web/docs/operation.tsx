// An operation: what it takes and answers, how it fails, and a form that sends a request.

import { useRef, useState } from "preact/hooks";
import { currentKey, isAbort, messageOf } from "../api/client.ts";
import { parseExact, writeExact } from "../api/exact_json.ts";
import { Code } from "../markdown/code.tsx";
import { text } from "../strings.ts";
import { CopyButton, Field, Notice } from "../ui/controls.tsx";
import { formatSeconds } from "../ui/format.ts";
import { type Content, type Document, type Entry, resolved, type Schema } from "./types.ts";

export function OperationView({ document, entry }: { document: Document; entry: Entry }) {
  const { method, path, operation } = entry;
  const { requestBody, responses, parameters = [] } = operation;
  return (
    <article class="stack" id={operation.operationId}>
      <header>
        <h1 class="operation-name">
          <span class={`method ${method}`}>{method.toUpperCase()}</span> <code>{path}</code>
        </h1>
        <p>{operation.summary}</p>
      </header>
      <div class="workbench">
        <div class="stack">
          {parameters.length > 0 && (
            <section class="card">
              <h2>{text.docs.parameters}</h2>
              <ul class="members">
                {parameters.map(({ name, in: where, description }) => (
                  <li key={where + name}>
                    <code class="member">{name}</code> <span class="soft">{where}</span>
                    {description && <span class="field-hint">{description}</span>}
                  </li>
                ))}
              </ul>
            </section>
          )}
          {requestBody && (
            <Body title={text.docs.body} document={document} content={requestBody.content} />
          )}
          <section class="card stack">
            <h2>{text.docs.answers}</h2>
            {Object.entries(responses).map(([status, { description, content }]) => (
              <details key={status}>
                <summary>
                  <span class={`badge ${status.startsWith("2") ? "on" : "bad"}`}>{status}</span>
                  {" "}
                  {description}
                </summary>
                {content && <Contents document={document} content={content} />}
              </details>
            ))}
          </section>
        </div>
        <TryForm key={operation.operationId} entry={entry} />
      </div>
    </article>
  );
}

function Body(
  { title, document, content }: { title: string; document: Document; content: Content },
) {
  return (
    <section class="card">
      <h2>{title}</h2>
      {Object.entries(content).map(([type, { schema }]) => (
        <div key={type}>
          <p class="aside">{type}</p>
          {schema && <SchemaTree document={document} schema={schema} />}
        </div>
      ))}
    </section>
  );
}

function Contents({ document, content }: { document: Document; content: Content }) {
  return (
    <div class="stack details">
      {Object.entries(content).map(([type, { schema, example }]) => (
        <div key={type} class="stack">
          <p class="aside">{type}</p>
          {schema && <SchemaTree document={document} schema={schema} />}
          {example !== undefined && <Example value={example} />}
        </div>
      ))}
    </div>
  );
}

function Example({ value }: { value: unknown }) {
  const source = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return (
    <figure class="code">
      <figcaption>
        <span>{text.docs.example}</span>
        <CopyButton value={() => source} />
      </figcaption>
      <pre
        tabIndex={0}
      ><Code code={source} language={typeof value === "string" ? "" : "json"} /></pre>
    </figure>
  );
}

interface Answer {
  status: string;
  type: string;
  seconds: number;
  body: string;
}

/** Characters of an answer that are shown. */
const MOST_SHOWN = 200_000;

function TryForm({ entry: { method, path, operation } }: { entry: Entry }) {
  const example = operation.requestBody?.content["application/json"]?.example;
  const placeholders = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const [values, setValues] = useState<Record<string, string>>({});
  const [body, setBody] = useState(example === undefined ? "" : JSON.stringify(example, null, 2));
  const [answer, setAnswer] = useState<Answer>();
  const [fault, setFault] = useState("");
  const [isRunning, setRunning] = useState(false);
  const abort = useRef<AbortController | undefined>(undefined);
  const url = path.replaceAll(/\{(\w+)\}/g, (_, name) => values[name] || `{${name}}`);
  const key = currentKey();
  const submit = async (event: Event) => {
    event.preventDefault();
    const { signal } = abort.current = new AbortController();
    const started = performance.now();
    setFault("");
    setAnswer(undefined);
    setRunning(true);
    try {
      const response = await fetch(url, {
        method: method.toUpperCase(),
        signal,
        headers: {
          ...(key && { authorization: `Bearer ${key}` }),
          ...(body && { "content-type": "application/json" }),
        },
        ...(body && { body }),
      });
      const head = {
        status: `${response.status} ${response.statusText}`,
        type: response.headers.get("content-type") ?? "",
      };
      let text = "";
      for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        if (text.length < MOST_SHOWN) text += piece;
        const seconds = (performance.now() - started) / 1000;
        setAnswer({ ...head, seconds, body: text });
      }
      setAnswer({ ...head, seconds: (performance.now() - started) / 1000, body: pretty(text) });
    } catch (error) {
      if (!isAbort(error)) setFault(messageOf(error));
    }
    setRunning(false);
  };
  const curl = [
    `curl ${method === "get" ? "" : `-X ${method.toUpperCase()} `}${location.origin}${url}`,
    ...(body ? [`-d '${body.replaceAll("'", "'\\''")}'`] : []),
  ].join(" ");
  return (
    <form class="card stack try" onSubmit={(event) => void submit(event)}>
      <h2>{text.docs.send}</h2>
      {placeholders.map((name) => (
        <Field key={name} label={name}>
          <input
            type="text"
            required
            value={values[name] ?? ""}
            onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
          />
        </Field>
      ))}
      {operation.requestBody && (
        <Field label={text.docs.body}>
          <textarea
            class="mono"
            rows={Math.min(18, body.split("\n").length + 1)}
            spellcheck={false}
            value={body}
            onInput={(event) => setBody(event.currentTarget.value)}
          />
        </Field>
      )}
      <div class="row">
        {isRunning
          ? (
            <button type="button" class="quiet" onClick={() => abort.current?.abort()}>
              {text.common.stop}
            </button>
          )
          : <button type="submit" class="primary">{text.docs.send}</button>}
        <CopyButton value={() => curl} label={text.docs.copyCurl} isWide />
      </div>
      {fault && <Notice kind="error">{fault}</Notice>}
      {answer && (
        <div class="stack" role="status">
          <p class="row">
            <span class={`badge ${answer.status.startsWith("2") ? "on" : "bad"}`}>
              {answer.status}
            </span>
            <span class="soft">{answer.type} · {formatSeconds(answer.seconds)}</span>
          </p>
          <pre class="answer-body" tabIndex={0}>{answer.body}</pre>
        </div>
      )}
    </form>
  );
}

/** JSON on lines of its own; anything else as it came. */
function pretty(source: string): string {
  try {
    return writeExact(parseExact(source), 2);
  } catch {
    return source;
  }
}

/** Deeper than this only the types are told. */
const DEEPEST = 5;

/** The members of a schema. */
function SchemaTree({ document, schema, depth = 0 }: {
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
