// The API explorer at /docs: all operations of /openapi.json on one side, the chosen one on the other.

import { signal } from "@preact/signals";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ask, isKeyWanted, messageOf } from "./api/client.ts";
import { OperationView } from "./docs/operation.tsx";
import { type Document, entriesOf } from "./docs/types.ts";
import { KeyDialog } from "./shell/dialogs.tsx";
import "./shell/theme.ts";
import { text } from "./strings.ts";
import { Brand, IconButton, Notice } from "./ui/controls.tsx";

const isListOpen = signal(false);

/** The whole page. */
function Explorer() {
  const [document, setDocument] = useState<Document>();
  const [fault, setFault] = useState("");
  const [chosen, setChosen] = useState(location.hash.slice(1));
  const [query, setQuery] = useState("");
  const look = () => {
    ask<Document>("/openapi.json").then((found) => {
      setDocument(found);
      setFault("");
    }, (error) => isKeyWanted.value || setFault(messageOf(error)));
  };
  useEffect(() => {
    look();
    const follow = () => setChosen(location.hash.slice(1));
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  const entries = document ? entriesOf(document) : [];
  const entry = entries.find(({ operation }) => operation.operationId === chosen) ??
    entries.find(({ operation }) => operation.operationId === "chat") ?? entries[0];
  const words = query.toLowerCase();
  const shown = entries.filter(({ method, path, operation }) =>
    `${method} ${path} ${operation.summary}`.toLowerCase().includes(words)
  );
  return (
    <>
      <a class="skip" href="#main">{text.skip}</a>
      <div
        class={`shade ${isListOpen.value ? "shown" : ""}`}
        onClick={() => isListOpen.value = false}
      />
      <header class={`side ${isListOpen.value ? "shown" : ""}`}>
        <Brand href="/" />
        <input
          type="search"
          aria-label={text.docs.search}
          placeholder={text.docs.search}
          value={query}
          onInput={(event) => setQuery(event.currentTarget.value)}
        />
        <nav class="operations" aria-label={text.docs.title} tabIndex={-1}>
          {document?.tags.map(({ name, description }) => {
            const own = shown.filter(({ operation }) => operation.tags[0] === name);
            if (own.length === 0) return null;
            return (
              <section key={name}>
                <h2 title={description}>{name}</h2>
                <ul>
                  {own.map(({ method, path, operation }) => (
                    <li key={operation.operationId}>
                      <a
                        href={`#${operation.operationId}`}
                        title={operation.summary}
                        aria-current={operation === entry?.operation ? "page" : undefined}
                        onClick={() => isListOpen.value = false}
                      >
                        <span class={`method ${method}`}>{method.toUpperCase()}</span>
                        <span class="operation-path">{path}</span>
                      </a>
                    </li>
                  ))}
                </ul>
              </section>
            );
          })}
        </nav>
      </header>
      <main id="main" tabIndex={-1}>
        <div class="top-bar">
          <IconButton
            icon="menu"
            label={text.nav.menu}
            class="menu-button"
            onClick={() => isListOpen.value = !isListOpen.value}
          />
          <span class="top-title">{document?.info.title} {document?.info.version}</span>
          <span class="spring" />
          <a class="soft" href="/docs/guide">{text.nav.guide}</a>
          <a class="soft" href="/openapi.json">openapi.json</a>
        </div>
        <div class="view">
          <div class="view-inner">
            {fault && <Notice kind="error">{fault}</Notice>}
            {!document && !fault && <p class="aside" role="status">{text.common.loading}</p>}
            {document && entry && <OperationView document={document} entry={entry} />}
          </div>
        </div>
      </main>
      <KeyDialog retry={look} />
    </>
  );
}

render(<Explorer />, document.querySelector("#app")!);
