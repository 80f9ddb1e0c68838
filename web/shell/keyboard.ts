// What keys do wherever the focus is.

import { stop } from "../chat/answering.ts";
import { areShortcutsShown } from "./dialogs.tsx";
import { go, VIEWS } from "./router.ts";
import { beginConversation, isSideOpen } from "./sidebar.tsx";

/** Listens to the keyboard. */
export function listenToKeys(): void {
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
