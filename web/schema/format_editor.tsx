// A field for a format, with marks behind its text: on the rules in force, or on the fault.

import { useRef } from "preact/hooks";
import type { Span } from "./pointers.ts";

/** The field. `marked` are spans of its text, in order. */
export function FormatEditor({ value, label, marked, isBad, onChange }: {
  value: string;
  label: string;
  marked: readonly Span[];
  isBad: boolean;
  onChange: (value: string) => void;
}) {
  const back = useRef<HTMLPreElement>(null);
  const parts: preact.ComponentChild[] = [];
  let at = 0;
  for (const [start, end] of marked) {
    if (start < at) continue;
    parts.push(value.slice(at, start), ...markLines(value.slice(start, end), start));
    at = end;
  }
  parts.push(value.slice(at), "\n");
  return (
    <div class={`format-editor ${isBad ? "bad" : ""}`}>
      <pre ref={back} aria-hidden="true">{parts}</pre>
      <textarea
        class="mono"
        aria-label={label}
        spellcheck={false}
        autocapitalize="off"
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
        onScroll={(event) => {
          back.current!.scrollTop = event.currentTarget.scrollTop;
          back.current!.scrollLeft = event.currentTarget.scrollLeft;
        }}
      />
    </div>
  );
}

/** Marks on each line of a text, without the space before it. */
function markLines(text: string, start: number): preact.ComponentChild[] {
  return text.split(/(\n[ \t]*)/).map((part, index) =>
    index % 2 === 1 || part === "" ? part : <mark key={`${start}-${index}`}>{part}</mark>
  );
}
