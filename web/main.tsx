// The page at /: where the browser begins.

import { render } from "preact";
import { refreshModels } from "./api/models.ts";
import { stop } from "./chat/answering.ts";
import { restore } from "./chat/store.ts";
import { App } from "./shell/app.tsx";
import { areShortcutsShown } from "./shell/dialogs.tsx";
import { go, VIEWS } from "./shell/router.ts";
import { beginConversation, isSideOpen } from "./shell/sidebar.tsx";

// What keys do wherever the focus is.

/** Listens to the keyboard. */
function listenToKeys(): void {
  addEventListener("keydown", (event) => {
    const isWriting = event.target instanceof Element &&
      event.target.matches("input, textarea, select, [contenteditable]");
    const isCommand = event.ctrlKey || event.metaKey;
    if (event.key === "Escape" && !document.querySelector("dialog[open]")) {
      if (isSideOpen.value) isSideOpen.value = false;
      else stop();
    } else if (isCommand && event.shiftKey && event.key.toLowerCase() === "o") {
      event.preventDefault();
      beginConversation();
    } else if (isCommand && !event.shiftKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      isSideOpen.value = true;
      document.querySelector<HTMLElement>("#history-search")?.focus();
    } else if (event.altKey && !isCommand && /^Digit[1-5]$/.test(event.code)) {
      event.preventDefault();
      go(VIEWS[Number(event.code.at(-1)) - 1]!);
    } else if (event.key === "?" && !isWriting && !isCommand) {
      areShortcutsShown.value = true;
    }
  });
}

render(<App />, document.querySelector("#app")!);
listenToKeys();
void refreshModels();
void restore();
