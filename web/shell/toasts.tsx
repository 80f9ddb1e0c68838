// Short messages at the foot of the page.

import { signal } from "@preact/signals";

interface Toast {
  id: number;
  message: string;
  kind: "info" | "error";
}

const toasts = signal<Toast[]>([]);
let count = 0;

/** Tells people something for some seconds. */
export function tell(message: string, kind: Toast["kind"] = "info"): void {
  const id = ++count;
  toasts.value = [...toasts.value, { id, message, kind }];
  setTimeout(() => {
    toasts.value = toasts.value.filter((toast) => toast.id !== id);
  }, kind === "error" ? 8000 : 3500);
}

/** Where they show. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, message, kind }) => <p key={id} class={kind}>{message}</p>)}
    </div>
  );
}
