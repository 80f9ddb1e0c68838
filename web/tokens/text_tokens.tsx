// Any text as the tokens of the chosen model.

import { useEffect, useState } from "preact/hooks";
import { ask, isAbort, messageOf } from "../api/client.ts";
import { chosenModel } from "../api/models.ts";
import { text } from "../strings.ts";
import { Field, Notice } from "../ui/controls.tsx";
import { formatCount, showToken } from "../ui/format.ts";

interface TextToken {
  id: number;
  text: string;
  bytes: number[];
}

/** How long nobody may write before the text is sent, in milliseconds. */
const PAUSE = 250;

/** The view. */
export function TextTokens() {
  const [value, setValue] = useState<string>(text.tokens.sample);
  const [tokens, setTokens] = useState<TextToken[]>([]);
  const [fault, setFault] = useState("");
  const model = chosenModel.value?.name;
  useEffect(() => {
    if (!model) return;
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const { signal } = abort;
        const body = { model, text: value };
        setTokens((await ask<{ tokens: TextToken[] }>("/api/tokenize", { body, signal })).tokens);
        setFault("");
      } catch (error) {
        if (!isAbort(error)) setFault(messageOf(error));
      }
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [value, model]);
  return (
    <div class="workbench">
      <section class="card stack">
        <Field label={text.tokens.text}>
          <textarea
            rows={8}
            value={value}
            onInput={(event) => setValue(event.currentTarget.value)}
          />
        </Field>
      </section>
      <section class="card stack" aria-label={text.tokens.title}>
        {fault && <Notice kind="error">{fault}</Notice>}
        <p class="aside" role="status">
          {text.tokens.count(formatCount(tokens.length), formatCount([...value].length))}
        </p>
        <ol class="text-tokens">
          {tokens.map(({ id, text: part, bytes }, index) => (
            <li key={index} title={`${text.tokens.bytes}: ${bytes.join(" ")}`}>
              <code>{part.includes("\uFFFD") ? showBytes(bytes) : showToken(part)}</code>
              <span>{id}</span>
            </li>
          ))}
        </ol>
      </section>
    </div>
  );
}

/** Part of a character as its bytes: it is no text by itself. */
function showBytes(bytes: readonly number[]): string {
  return bytes.map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
}
