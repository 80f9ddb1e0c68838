// A text as its tokens, each a button in a colour of how likely it was, or of what a format did there.

import { useRef } from "preact/hooks";
import type { TokenLogprob } from "../api/types.ts";
import { formatPercent, showToken } from "../ui/format.ts";
import { text } from "../strings.ts";

/** The strip. Arrow keys go from token to token. */
export function TokenStrip({ tokens, chosen, onChoose, colour, label }: {
  tokens: readonly TokenLogprob[];
  chosen: number;
  onChoose: (index: number) => void;
  colour: "mask" | "probability";
  label: string;
}) {
  const strip = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent) => {
    const step =
      { ArrowLeft: -1, ArrowRight: 1, Home: -chosen, End: tokens.length - 1 - chosen }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const index = Math.max(0, Math.min(tokens.length - 1, chosen + step));
    onChoose(index);
    strip.current?.querySelectorAll("button")[index]?.focus();
  };
  return (
    <div class="token-strip" role="group" aria-label={label} ref={strip} onKeyDown={move}>
      {tokens.map((token, index) => (
        <button
          key={index}
          type="button"
          tabIndex={index === chosen ? 0 : -1}
          aria-pressed={index === chosen}
          aria-label={text.tokens.token(
            showToken(token.token),
            formatPercent(Math.exp(token.logprob)),
          )}
          class={`token ${classOf(token, colour)}`}
          onClick={() => onChoose(index)}
        >
          {showToken(token.token)}
          {token.token.includes("\n") && <br />}
        </button>
      ))}
    </div>
  );
}

function classOf({ logprob, mask }: TokenLogprob, colour: "mask" | "probability"): string {
  if (colour === "mask") {
    if (mask?.forced) return "forced";
    return mask && mask.allowed === 1 ? "forced" : "free";
  }
  const share = Math.exp(logprob);
  return share > 0.8 ? "sure" : share > 0.4 ? "likely" : share > 0.1 ? "unsure" : "unlikely";
}
