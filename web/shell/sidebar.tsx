// The side of the page: views, conversations, appearance. On a phone it lies over the page.

import { signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { messageOf } from "../api/client.ts";
import { answeringIds } from "../chat/answering.ts";
import { begin, conversations, current, forget, found, open, query, take } from "../chat/store.ts";
import { readFile, toJson } from "../chat/transfer.ts";
import type { Conversation } from "../chat/tree.ts";
import { text } from "../strings.ts";
import { Brand, Icon, IconButton, Segments } from "../ui/controls.tsx";
import { save } from "../ui/save.ts";
import { formatAge } from "../ui/format.ts";
import { areShortcutsShown } from "./dialogs.tsx";
import { go, hrefOf, route, VIEWS } from "./router.ts";
import { theme, THEMES } from "./theme.ts";
import { tell } from "./toasts.tsx";

/** Whether the side is shown where it lies over the page. */
export const isSideOpen = signal(false);

/** The side. */
export function Sidebar() {
  return (
    <>
      <div
        class={`shade ${isSideOpen.value ? "shown" : ""}`}
        onClick={() => isSideOpen.value = false}
      />
      <header class={`side ${isSideOpen.value ? "shown" : ""}`}>
        <Brand href={hrefOf("chat")} />
        <nav aria-label={text.nav.label}>
          <ul>
            {VIEWS.map((view) => (
              <li key={view}>
                <a
                  href={hrefOf(view)}
                  aria-current={route.value.view === view ? "page" : undefined}
                  onClick={() => isSideOpen.value = false}
                >
                  <Icon name={view} />
                  {text.nav[view]}
                </a>
              </li>
            ))}
            <li>
              <a href="/docs/guide">
                <Icon name="guide" />
                {text.nav.guide}
              </a>
            </li>
            <li>
              <a href="/docs">
                <Icon name="docs" />
                {text.nav.docs}
              </a>
            </li>
          </ul>
        </nav>
        <History />
        <div class="side-foot">
          <Segments
            label={text.theme.label}
            value={theme.value}
            options={THEMES.map((name) => [name, text.theme[name]] as const)}
            onChange={(name) => theme.value = name}
          />
          <IconButton
            icon="help"
            label={text.shortcuts.title}
            onClick={() => areShortcutsShown.value = true}
          />
        </div>
      </header>
    </>
  );
}

/** Begins a conversation and shows it. */
export function beginConversation(): void {
  begin();
  isSideOpen.value = false;
  go("chat");
}

function History() {
  const picker = useRef<HTMLInputElement>(null);
  const bring = async (files: readonly File[]) => {
    for (const file of files) {
      try {
        const read = readFile(file.name, await file.text());
        await take(read);
        tell(text.history.imported(read.length));
      } catch (error) {
        tell(messageOf(error), "error");
      }
    }
  };
  return (
    <section class="history" aria-label={text.history.title}>
      <div class="history-head">
        <h2>{text.history.title}</h2>
        <IconButton
          icon="upload"
          label={text.history.import}
          onClick={() => picker.current?.click()}
        />
        <IconButton
          icon="download"
          label={text.history.export}
          disabled={conversations.value.length === 0}
          onClick={() =>
            save("quern-conversations.json", toJson(conversations.value), "application/json")}
        />
        <IconButton icon="plus" label={text.history.new} onClick={beginConversation} />
      </div>
      <input
        ref={picker}
        type="file"
        hidden
        multiple
        tabIndex={-1}
        accept=".json,.md,.markdown,.txt"
        aria-label={text.history.import}
        onChange={(event) => {
          void bring([...event.currentTarget.files ?? []]);
          event.currentTarget.value = "";
        }}
      />
      <input
        type="search"
        id="history-search"
        aria-label={text.history.search}
        placeholder={text.history.search}
        value={query.value}
        onInput={(event) => query.value = event.currentTarget.value}
      />
      <List />
    </section>
  );
}

function List() {
  if (conversations.value.length === 0) return <p class="aside">{text.history.empty}</p>;
  if (found.value.length === 0) return <p class="aside">{text.history.noMatch}</p>;
  const answering = answeringIds.value.split(" ");
  return (
    <ul class="conversations">
      {found.value.map((conversation) => (
        <Entry
          key={conversation.id}
          conversation={conversation}
          isAnswering={answering.includes(conversation.id)}
        />
      ))}
    </ul>
  );
}

function Entry({ conversation, isAnswering }: {
  conversation: Conversation;
  isAnswering: boolean;
}) {
  const { id, updated } = conversation;
  const title = conversation.title || text.history.untitled;
  const isShown = id === current.value.id;
  return (
    <li class={isShown && route.value.view === "chat" ? "chosen" : ""}>
      <button
        type="button"
        class="conversation"
        aria-current={isShown}
        onClick={() => {
          open(id);
          isSideOpen.value = false;
          go("chat");
        }}
      >
        <span class="conversation-title">{title}</span>
        <span class="conversation-time">{isAnswering ? "…" : formatAge(updated)}</span>
      </button>
      <IconButton
        icon="trash"
        label={text.history.delete(title)}
        onClick={() => {
          void forget(id);
          tell(text.history.deleted(title), "info", () => void take([conversation]));
        }}
      />
    </li>
  );
}
