// Small parts that all views use: icons, buttons, fields, bars, notices.

import type { ButtonHTMLAttributes, ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { text } from "../strings.ts";

/** A drawing of the set; decorative, since every button has a name. */
export function Icon({ name }: { name: keyof typeof icons }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={icons[name]} />
    </svg>
  );
}

/** A button that shows an icon and is called by its label. */
export function IconButton(
  { icon, label, class: extra = "", ...rest }:
    & { icon: keyof typeof icons; label: string; class?: string }
    & Omit<ButtonHTMLAttributes<HTMLButtonElement>, "icon" | "label" | "class">,
) {
  return (
    <button type="button" class={`icon-button ${extra}`} aria-label={label} title={label} {...rest}>
      <Icon name={icon} />
    </button>
  );
}

/** The mark and the name, which lead to the page. */
export function Brand({ href }: { href: string }) {
  return (
    <a class="brand" href={href}>
      <svg viewBox="0 0 32 32" aria-hidden="true" class="mark">
        <circle cx="16" cy="16" r="12.5" />
        <path d="M16 3.5v8M16 20.5v8M3.5 16h8M20.5 16h8" />
        <circle cx="16" cy="16" r="4.5" />
      </svg>
      {text.brand}
    </a>
  );
}

/** A button that copies a text and says so; with `isWide`, in words. */
export function CopyButton({ value, label = text.common.copy, isWide = false }: {
  value: () => string;
  label?: string;
  isWide?: boolean;
}) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(value());
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  const icon = isCopied ? "check" : "copy";
  const name = isCopied ? text.common.copied : label;
  if (!isWide) return <IconButton icon={icon} label={name} onClick={copy} />;
  return (
    <button type="button" class="quiet with-icon" onClick={copy}>
      <Icon name={icon} />
      {name}
    </button>
  );
}

/** The clipboard is for secure pages alone: elsewhere a selection does. */
async function copyText(value: string): Promise<void> {
  if (navigator.clipboard) return await navigator.clipboard.writeText(value);
  const area = document.createElement("textarea");
  area.value = value;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

/** A label with what it is for, and what explains it. */
export function Field({ label, hint, children, class: extra = "" }: {
  label: string;
  hint?: string | undefined;
  children: ComponentChildren;
  class?: string;
}) {
  return (
    <label class={`field ${extra}`}>
      <span class="field-label">{label}</span>
      {children}
      {hint && <span class="field-hint">{hint}</span>}
    </label>
  );
}

/** What went wrong, or what people should know. */
export function Notice({ kind = "info", children }: {
  kind?: "info" | "error" | "good";
  children: ComponentChildren;
}) {
  return <div class={`notice ${kind}`} role={kind === "error" ? "alert" : "status"}>{children}
  </div>;
}

/** How far something is: without a value, that it goes on. */
export function Progress({ value, label }: { value?: number | undefined; label: string }) {
  return <progress max={1} {...(value !== undefined && { value })} aria-label={label} />;
}

/** A page's head: its name and what can be done. */
export function ViewHead({ title, lead, children }: {
  title: string;
  lead?: string;
  children?: ComponentChildren;
}) {
  return (
    <header class="view-head">
      <div>
        <h1>{title}</h1>
        {lead && <p>{lead}</p>}
      </div>
      {children && <div class="view-actions">{children}</div>}
    </header>
  );
}

/** Choices of which one holds. */
export function Segments<Name extends string>({ label, value, options, onChange }: {
  label: string;
  value: Name;
  options: readonly (readonly [Name, string])[];
  onChange: (value: Name) => void;
}) {
  return (
    <div class="segments" role="radiogroup" aria-label={label}>
      {options.map(([name, title]) => (
        <label key={name} class={name === value ? "chosen" : undefined}>
          <input
            type="radio"
            name={label}
            checked={name === value}
            onChange={() =>
              onChange(name)}
          />
          {title}
        </label>
      ))}
    </div>
  );
}

const icons = {
  chat: "M4 5h16v11H9l-5 4z",
  schema:
    "M9 4H7a2 2 0 0 0-2 2v4l-2 2 2 2v4a2 2 0 0 0 2 2h2M15 4h2a2 2 0 0 1 2 2v4l2 2-2 2v4a2 2 0 0 1-2 2h-2",
  tokens: "M4 7h6v4H4zM13 7h7v4h-7zM4 14h9v4H4zM16 14h4v4h-4z",
  models: "M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9",
  machine: "M4 19V9M10 19V5M16 19v-7M21 19H3",
  guide: "M5 4h6a1 1 0 0 1 1 1v15a3 3 0 0 0-3-2H4V4zM20 4h-7a1 1 0 0 0-1 1v15a3 3 0 0 1 3-2h5V4z",
  docs: "M6 3h9l4 4v14H6zM14 3v5h5M9 13h7M9 17h5",
  menu: "M4 7h16M4 12h16M4 17h16",
  plus: "M12 5v14M5 12h14",
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M7 7h10v10H7z",
  copy: "M9 9h10v11H9zM15 9V4H5v11h4",
  microphone: "M12 3a3 3 0 0 0-3 3v5a3 3 0 0 0 6 0V6a3 3 0 0 0-3-3zM6 11a6 6 0 0 0 12 0M12 17v4",
  check: "M5 12l5 5 9-10",
  edit: "M4 20h4L19 9l-4-4L4 16z",
  again: "M20 11a8 8 0 1 0-2 6M20 5v6h-6",
  trash: "M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13",
  left: "M14 6l-6 6 6 6",
  right: "M10 6l6 6-6 6",
  attach: "M20 11l-8.5 8.5a5 5 0 0 1-7-7L13 4a3.5 3.5 0 0 1 5 5l-8.5 8.5a2 2 0 0 1-3-3L14 7",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4",
  close: "M6 6l12 12M18 6L6 18",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l5 5",
  download: "M12 4v11M7 11l5 5 5-5M5 20h14",
  upload: "M12 16V5M7 9l5-5 5 5M5 20h14",
  sun:
    "M12 7a5 5 0 1 0 0 10 5 5 0 0 0 0-10zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1 1M18 18l1 1M19 5l-1 1M6 18l-1 1",
  moon: "M20 14A8 8 0 0 1 10 4a8 8 0 1 0 10 10z",
  auto: "M12 4a8 8 0 1 0 0 16zM12 4a8 8 0 0 1 0 16",
  play: "M8 5l11 7-11 7z",
  help: "M9 9a3 3 0 1 1 4 3c-1 .5-1 1-1 2M12 18v.01",
} as const;
