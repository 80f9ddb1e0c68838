// Which view is shown: the part of the address after #, so that the server needs to know of none.

import { signal } from "@preact/signals";

export const VIEWS = ["chat", "schema", "tokens", "models", "machine"] as const;

/** The name of a view. */
export type View = typeof VIEWS[number];

/** A view, and what it shows. */
export interface Route {
  view: View;
  argument: string;
}

/** What is shown. */
export const route = signal<Route>(read());

addEventListener("hashchange", () => route.value = read());

function read(): Route {
  const [, view = "", ...rest] = location.hash.split("/");
  const known = VIEWS.find((name) => name === view);
  return { view: known ?? "chat", argument: known ? decodeURIComponent(rest.join("/")) : "" };
}

/** Shows a view. */
export function go(view: View, argument = ""): void {
  location.hash = hrefOf(view, argument);
}

/** The address of a view. */
export function hrefOf(view: View, argument = ""): string {
  return `#/${view}${argument ? `/${argument}` : ""}`;
}
