// The calls of tools in an answer, and where people give their results: they play the tools.

import { useState } from "preact/hooks";
import { writeExact } from "../api/exact_json.ts";
import type { ToolCall } from "../api/types.ts";
import { Code } from "../markdown/code.tsx";
import { text } from "../strings.ts";
import { giveResults } from "./answering.ts";

/** Calls of an answer. */
export function Calls({ calls, isOpen }: { calls: readonly ToolCall[]; isOpen: boolean }) {
  const [results, setResults] = useState<string[]>([]);
  const submit = (event: Event) => {
    event.preventDefault();
    void giveResults(calls.map((call, index) => [call, results[index] ?? ""]));
  };
  return (
    <form class="calls" onSubmit={submit}>
      {calls.map((call, index) => (
        <section key={index} class="call">
          <h3>
            {text.chat.call} <code>{call.function.name}</code>
          </h3>
          <pre tabIndex={0}>
            <Code code={writeExact(call.function.arguments, 2)} language="json" />
          </pre>
          {isOpen && (
            <label class="field">
              <span class="field-label">{text.chat.result}</span>
              <textarea
                rows={2}
                value={results[index] ?? ""}
                onInput={(event) =>
                  setResults(Object.assign([...results], { [index]: event.currentTarget.value }))}
              />
            </label>
          )}
        </section>
      ))}
      {isOpen && <button type="submit" class="primary">{text.chat.sendResult}</button>}
    </form>
  );
}
