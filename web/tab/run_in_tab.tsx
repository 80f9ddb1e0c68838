// The button by which a model of the server runs in this tab, and what it says meanwhile.

import { useEffect, useState } from "preact/hooks";
import type { Model } from "../api/types.ts";
import { chosenName } from "../api/models.ts";
import { go } from "../shell/router.ts";
import { text } from "../strings.ts";
import { Notice } from "../ui/controls.tsx";
import { leaveTab, offerOf, runInTab, tab } from "./tab.ts";

/** The offer to run a model in this tab, or what it would take; nothing where that cannot be. */
export function RunInTab({ model }: { model: Model }) {
  const [offer, setOffer] = useState<"run" | "unbuilt">();
  useEffect(() => {
    offerOf(model).then(setOffer, () => setOffer(undefined));
  }, [model.digest]);
  const state = tab.value?.name === model.name ? tab.value : undefined;
  if (offer === undefined) return null;
  if (offer === "unbuilt") {
    return (
      <section class="stack" aria-label={text.tab.title}>
        <h3>{text.tab.title}</h3>
        <p class="aside">{text.tab.unbuilt}</p>
      </section>
    );
  }
  return (
    <section class="stack" aria-label={text.tab.title}>
      <div class="row">
        <h3>{text.tab.title}</h3>
        <span class="spring" />
        {state?.device === undefined
          ? (
            <button
              type="button"
              disabled={state !== undefined && !state.fault}
              onClick={() => void runInTab(model)}
            >
              {text.tab.run}
            </button>
          )
          : (
            <>
              <button
                type="button"
                onClick={() => {
                  chosenName.value = model.name;
                  go("chat");
                }}
              >
                {text.models.chat}
              </button>
              <button type="button" onClick={() => void leaveTab()}>{text.tab.leave}</button>
            </>
          )}
      </div>
      {state?.fault ? <Notice kind="error">{state.fault}</Notice> : (
        <p class="aside" role="status">
          {!state
            ? text.tab.hint
            : state.device === undefined
            ? text.tab.loading(Math.round(100 * state.part))
            : text.tab.runs(state.device)}
        </p>
      )}
    </section>
  );
}
