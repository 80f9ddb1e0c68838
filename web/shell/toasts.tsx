// Short messages at the foot of the page, with a button where what they tell of can be taken back.

import { signal } from "@preact/signals";
import { text } from "../strings.ts";

interface Toast {
  id: number;
  message: string;
  kind: "info" | "error";
  undo?: (() => void) | undefined;
}

const toasts = signal<Toast[]>([]);
let count = 0;

/** Tells people something for some seconds. `undo` takes back what was done. */
export function tell(message: string, kind: Toast["kind"] = "info", undo?: () => void): void {
  const id = ++count;
  toasts.value = [...toasts.value, { id, message, kind, undo }];
  setTimeout(() => remove(id), undo || kind === "error" ? 8000 : 3500);
}

function remove(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

/** Where they show. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, message, kind, undo }) => (
        <p key={id} class={kind}>
          {message}
          {undo && (
            <button
              type="button"
              onClick={() => {
                undo();
                remove(id);
              }}
            >
              {text.common.undo}
            </button>
          )}
        </p>
      ))}
    </div>
  );
}
