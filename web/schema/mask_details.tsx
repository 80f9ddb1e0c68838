// What the format allowed in the place of a token: how many, the likeliest that might come, and the
// likeliest that might not.

import type { TokenLogprob, TokenProbability } from "../api/types.ts";
import { text } from "../strings.ts";
import { formatCount, formatPercent, showToken } from "../ui/format.ts";

/** The details of a token. */
export function MaskDetails({ token, rules }: {
  token: TokenLogprob;
  /** Names of the rules in force, the outermost first. */
  rules: readonly string[];
}) {
  const { mask } = token;
  return (
    <div class="stack">
      <div class="row">
        <code class="token-name">{showToken(token.token)}</code>
        <span>{formatPercent(Math.exp(token.logprob))}</span>
        {mask && (
          <span class="soft">
            {text.schema.allowed(formatCount(mask.allowed), formatCount(mask.vocabulary))}
          </span>
        )}
        {mask?.forced && <span class="badge warn">{text.schema.forced}</span>}
      </div>
      {rules.length > 0 && (
        <p class="aside rules-in-force">
          {text.schema.rule} {rules.slice(-3).map((rule, index) => <code key={index}>{rule}</code>)}
        </p>
      )}
      {mask && (
        <div class="two-lists">
          <Likeliest title={text.schema.topAllowed} list={mask.top_allowed} chosen={token.token} />
          <Likeliest title={text.schema.topForbidden} list={mask.top_forbidden} isBad />
        </div>
      )}
    </div>
  );
}

/** Tokens with bars of their probabilities. */
export function Likeliest({ title, list, chosen, isBad = false, onChoose }: {
  title: string;
  list: readonly TokenProbability[];
  chosen?: string;
  isBad?: boolean;
  onChoose?: (token: TokenProbability) => void;
}) {
  return (
    <section>
      <h3>{title}</h3>
      <ul class={`likeliest ${isBad ? "bad" : ""}`}>
        {list.map((one, index) => {
          const share = Math.exp(one.logprob);
          const content = (
            <>
              <code>{showToken(one.token)}</code>
              <meter min={0} max={1} value={share} aria-hidden="true" />
              <span class="share">{formatPercent(share)}</span>
            </>
          );
          return (
            <li key={index} class={one.token === chosen ? "chosen" : undefined}>
              {onChoose
                ? (
                  <button
                    type="button"
                    aria-label={text.tokens.goOnWith(showToken(one.token), formatPercent(share))}
                    onClick={() => onChoose(one)}
                  >
                    {content}
                  </button>
                )
                : content}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
