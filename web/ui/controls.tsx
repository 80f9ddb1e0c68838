// Small parts that all views use: icons, buttons, fields, bars, notices.

import type { ButtonHTMLAttributes, ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { text } from "../strings.ts";
import { icons } from "./icons.ts";

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
