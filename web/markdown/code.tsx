// A block of code with its language, a button that copies it, and colours once they are loaded.

import { useEffect, useState } from "preact/hooks";
import { text } from "../strings.ts";
import { CopyButton } from "../ui/controls.tsx";
import type { CodePart } from "./highlighter.ts";

type Highlight = (code: string, language: string) => CodePart[] | undefined;

let loading: Promise<Highlight> | undefined;
let highlight: Highlight | undefined;

/** Code longer than this stays in one colour: reading it would hold up the page. */
const LONGEST = 40_000;

/** Colours come with a file of their own, at the first block of code. */
function loadHighlighter(): Promise<Highlight> {
  return loading ??= import("./highlighter.ts").then((module) => highlight = module.highlight);
}

export function CodeBlock({ code, language }: { code: string; language?: string | undefined }) {
  const name = (language ?? "").trim().split(/\s/)[0]!.toLowerCase();
  return (
    <figure class="code">
      <figcaption>
        <span>{name || text.chat.code}</span>
        <CopyButton value={() => code} />
      </figcaption>
      <pre tabIndex={0}><Code code={code} language={name} /></pre>
    </figure>
  );
}

/** Code in colours. */
export function Code({ code, language }: { code: string; language: string }) {
  const [isReady, setReady] = useState(highlight !== undefined);
  useEffect(() => {
    let isHere = true;
    if (language && !isReady) void loadHighlighter().then(() => isHere && setReady(true));
    return () => void (isHere = false);
  }, [language]);
  const parts = isReady && language && code.length < LONGEST && highlight?.(code, language);
  if (!parts) return <code>{code}</code>;
  return (
    <code>
      {parts.map(({ text, kind }, index) =>
        kind ? <span key={index} class={`hl-${kind}`}>{text}</span> : text
      )}
    </code>
  );
}
