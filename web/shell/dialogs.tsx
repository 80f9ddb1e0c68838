// The dialogs of the whole page: the key of the server, and the list of keys of the keyboard.

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { isKeyWanted, rememberKey } from "../api/client.ts";
import { refreshModels } from "../api/models.ts";
import { text } from "../strings.ts";
import { Field, IconButton } from "../ui/controls.tsx";

/** Whether the list of keys is shown. */
export const areShortcutsShown = signal(false);

/** A dialog over the page; `close` is missing where it has to be answered. */
export function Dialog({ title, close, children }: {
  title: string;
  close?: () => void;
  children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current!;
    element.showModal();
    return () => element.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        close?.();
      }}
      onClick={(event) => event.target === dialog.current && close?.()}
    >
      <div class="dialog-body">
        <header class="panel-head">
          <h2>{title}</h2>
          {close && <IconButton icon="close" label={text.common.close} onClick={close} />}
        </header>
        {children}
      </div>
    </dialog>
  );
}

/** Asks for the server's key. */
export function KeyDialog({ retry = refreshModels }: { retry?: () => void }) {
  const [value, setValue] = useState("");
  if (!isKeyWanted.value) return null;
  return (
    <Dialog title={text.key.title}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          rememberKey(value.trim());
          void retry();
        }}
      >
        <p>{text.key.lead}</p>
        <Field label={text.key.label}>
          <input
            type="password"
            autocomplete="off"
            required
            value={value}
            onInput={(event) => setValue(event.currentTarget.value)}
          />
        </Field>
        <button type="submit" class="primary">{text.key.submit}</button>
      </form>
    </Dialog>
  );
}

/** Shows what keys do. */
export function ShortcutsDialog() {
  if (!areShortcutsShown.value) return null;
  return (
    <Dialog title={text.shortcuts.title} close={() => areShortcutsShown.value = false}>
      <dl class="shortcuts">
        {text.shortcuts.list.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
