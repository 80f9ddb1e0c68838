// How much of the context window the conversation takes, and what did not fit.

import { chosenModel, loadedOf } from "../api/models.ts";
import { text } from "../strings.ts";
import { formatCount } from "../ui/format.ts";
import { current } from "./store.ts";
import { pathOf } from "./tree.ts";

/** The meter; nothing before the first answer. */
export function ContextMeter() {
  const last = pathOf(current.value).findLast(({ facts }) => (facts?.promptTokens ?? 0) > 0)?.facts;
  const model = chosenModel.value;
  if (!last || !model) return null;
  const asked = current.value.settings.options.num_ctx;
  const window = typeof asked === "number" && asked > 0
    ? asked
    : loadedOf(model.name)?.context_length ?? model.details.context_length;
  const used = last.promptTokens + last.tokens;
  const label = text.meter.label(formatCount(used), formatCount(window));
  const dropped = last.dropped > 0 ? text.meter.dropped(last.dropped) : "";
  return (
    <span class={`context-meter ${dropped ? "full" : ""}`} title={`${label} ${dropped}`}>
      <meter min={0} max={window} high={0.85 * window} value={used} aria-label={label} />
      <span class="context-text" aria-hidden="true">
        {formatCount(used)} / {formatCount(window)}
      </span>
    </span>
  );
}

/** Below the last message that did not fit. */
export function DroppedLine() {
  return <p class="dropped-line">{text.meter.droppedAbove}</p>;
}

/** What did not fit, where something did not. */
export function DroppedNotice({ count }: { count: number }) {
  return count > 0 ? <p class="aside">{text.meter.dropped(count)}</p> : null;
}
