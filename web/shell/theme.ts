// Light, dark, or as the system has it.

import { effect, signal } from "@preact/signals";

const KEY = "quern-theme";

export const THEMES = ["auto", "light", "dark"] as const;

/** The name of an appearance. */
export type Theme = typeof THEMES[number];

const stored = localStorage.getItem(KEY);

/** What was chosen. */
export const theme = signal<Theme>(THEMES.find((name) => name === stored) ?? "auto");

effect(() => {
  document.documentElement.dataset.theme = theme.value;
  localStorage.setItem(KEY, theme.value);
});
