// The page: the side, the view that is chosen, and what lies over both.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { messageOf } from "../api/client.ts";
import { modelsError, refreshLoaded, refreshModels } from "../api/models.ts";
import { current } from "../chat/store.ts";
import { toJson, toMarkdown } from "../chat/transfer.ts";
import { ChatView } from "../chat/view.tsx";
import { text } from "../strings.ts";
import { Icon, IconButton, Notice } from "../ui/controls.tsx";
import { fileName, save } from "../ui/save.ts";
import { KeyDialog, ShortcutsDialog } from "./dialogs.tsx";
import { route } from "./router.ts";
import { beginConversation, isSideOpen, Sidebar } from "./sidebar.tsx";
import { Toasts } from "./toasts.tsx";

/** How often the page asks which models are in memory, in milliseconds. */
const PERIOD = 10_000;

/** The whole page. */
export function App() {
  useEffect(() => {
    const timer = setInterval(() => void (!document.hidden && refreshLoaded()), PERIOD);
    return () => clearInterval(timer);
  }, []);
  const { view, argument } = route.value;
  useEffect(() => {
    document.title = view === "chat" && current.value.title
      ? `${current.value.title} · ${text.brand}`
      : `${text.nav[view]} · ${text.brand}`;
  }, [view, current.value.title]);
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>{text.skip}</a>
      <Sidebar />
      <main id="main" tabIndex={-1}>
        <TopBar />
        {modelsError.value && (
          <Notice kind="error">
            {modelsError.value}
            <button type="button" class="quiet" onClick={() => void refreshModels()}>
              {text.common.retry}
            </button>
          </Notice>
        )}
        {view === "chat" && <ChatView />}
        {view === "schema" && (
          <Later load={() => import("../schema/view.tsx").then((module) => module.SchemaView)} />
        )}
        {view === "tokens" && (
          <Later
            load={() => import("../tokens/view.tsx").then((module) => module.TokensView)}
            argument={argument}
          />
        )}
        {view === "models" && (
          <Later
            load={() => import("../models/view.tsx").then((module) => module.ModelsView)}
            argument={argument}
          />
        )}
        {view === "machine" && (
          <Later load={() => import("../machine/view.tsx").then((module) => module.MachineView)} />
        )}
      </main>
      <KeyDialog />
      <ShortcutsDialog />
      <Toasts />
    </>
  );
}

/** The address after # is the view's: skipping moves the focus alone. */
function skip(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("#main")?.focus();
}

function TopBar() {
  const { view } = route.value;
  const isTalk = view === "chat" && current.value.leaf !== null;
  return (
    <div class={`top-bar ${isTalk ? "" : "bare"}`}>
      <IconButton
        icon="menu"
        label={text.nav.menu}
        class="menu-button"
        aria-expanded={isSideOpen.value}
        onClick={() => isSideOpen.value = !isSideOpen.value}
      />
      {isTalk && <h1 class="top-title">{current.value.title}</h1>}
      <span class="spring" />
      {isTalk && (
        <details class="menu">
          <summary class="icon-button" aria-label={text.history.export} title={text.history.export}>
            <Icon name="download" />
          </summary>
          <div class="menu-list">
            <button type="button" onClick={exportMarkdown}>{text.chat.exportMarkdown}</button>
            <button type="button" onClick={exportJson}>{text.chat.exportJson}</button>
          </div>
        </details>
      )}
      {view === "chat" && (
        <IconButton icon="plus" label={text.history.new} onClick={beginConversation} />
      )}
    </div>
  );
}

function exportMarkdown(): void {
  save(fileName(current.value.title, "md"), toMarkdown(current.value), "text/markdown");
}

function exportJson(): void {
  save(fileName(current.value.title, "json"), toJson([current.value]), "application/json");
}

type View = ComponentType<{ argument: string }>;

/** The view, or that it is on its way. */
function Later({ load, argument = "" }: {
  load: () => Promise<View>;
  argument?: string;
}) {
  const [found, setFound] = useState<{ View: View } | { error: string }>();
  useEffect(() => {
    load().then((View) => setFound({ View }), (error) => setFound({ error: messageOf(error) }));
  }, []);
  if (!found) return <p class="aside" role="status">{text.common.loading}</p>;
  if ("error" in found) return <Notice kind="error">{found.error}</Notice>;
  return <found.View argument={argument} />;
}
