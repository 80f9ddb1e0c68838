// What came of a format in the end: the answer as one text, and how much of it had to come.

import { parseExact, writeExact } from "../api/exact_json.ts";
import type { TokenLogprob } from "../api/types.ts";
import { Code } from "../markdown/code.tsx";
import { text } from "../strings.ts";
import { CopyButton } from "../ui/controls.tsx";
import { formatCount } from "../ui/format.ts";

/** An answer that came to its end; JSON is laid out in lines. */
export function WholeAnswer({ tokens, isJson }: {
  tokens: readonly TokenLogprob[];
  isJson: boolean;
}) {
  const written = tokens.map(({ token }) => token).join("");
  const laidOut = isJson ? layOut(written) : undefined;
  const forced = tokens.filter(({ mask }) => mask?.forced || mask?.allowed === 1).length;
  return (
    <figure class="code whole-answer">
      <figcaption>
        <span>
          <span class="badge on">
            {laidOut !== undefined ? text.schema.isJson : text.schema.fits}
          </span>
          {text.schema.counts(formatCount(tokens.length), formatCount(forced))}
        </span>
        <CopyButton value={() => written} />
      </figcaption>
      <pre tabIndex={0} aria-label={text.schema.whole}>
        <Code code={laidOut ?? written} language={isJson ? "json" : ""} />
      </pre>
    </figure>
  );
}

/** JSON in lines of its own; undefined for what is none. */
function layOut(source: string): string | undefined {
  try {
    return writeExact(parseExact(source), 2);
  } catch {
    return undefined;
  }
}
