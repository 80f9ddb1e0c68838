// The models of the machine: what there is, what is in memory and for how long, and how more come.

import { useEffect, useState } from "preact/hooks";
import { messageOf, send } from "../api/client.ts";
import { chosenName, load, loadedModels, models, refreshModels } from "../api/models.ts";
import type { LoadedModel, Model } from "../api/types.ts";
import { Dialog } from "../shell/dialogs.tsx";
import { go } from "../shell/router.ts";
import { tell } from "../shell/toasts.tsx";
import { text } from "../strings.ts";
import { Field, Progress, ViewHead } from "../ui/controls.tsx";
import { formatBytes, formatCount, formatSeconds } from "../ui/format.ts";
import { ModelDetails } from "./details.tsx";
import { NewModels } from "./new_models.tsx";

export function ModelsView() {
  useEffect(() => void refreshModels(), []);
  const all = models.value;
  return (
    <div class="view">
      <div class="view-inner">
        <ViewHead title={text.models.title} lead={text.models.lead} />
        <NewModels />
        {!all && <p class="aside" role="status">{text.common.loading}</p>}
        <ul class="stack">
          {all?.map((model) => <Entry key={model.name} model={model} />)}
        </ul>
      </div>
    </div>
  );
}

function Entry({ model }: { model: Model }) {
  const [isBusy, setBusy] = useState(false);
  const [keep, setKeep] = useState("5m");
  const { name, details, capabilities, size } = model;
  const loaded = loadedModels.value.find((one) => one.name === name);
  const during = async (action: () => Promise<unknown>) => {
    setBusy(true);
    try {
      await action();
    } catch (error) {
      tell(messageOf(error), "error");
    }
    setBusy(false);
  };
  const [asked, setAsked] = useState<"copy" | "delete">();
  const close = () => setAsked(undefined);
  const copy = (destination: string) =>
    void during(async () => {
      await send("/api/copy", { body: { source: name, destination } });
      tell(text.models.done(destination));
      await refreshModels();
    });
  const remove = () =>
    void during(async () => {
      await send("/api/delete", { method: "DELETE", body: { model: name } });
      tell(text.models.gone(name));
      await refreshModels();
    });
  return (
    <li class="card stack" data-model={name}>
      <div class="row">
        <h2>{name}</h2>
        {capabilities.map((one) => <span key={one} class="badge">{one}</span>)}
        {loaded && <span class="badge on">{text.models.loaded}</span>}
        <span class="spring" />
        <span class="soft">
          {[details.parameter_size, details.quantization_level, formatBytes(size)].join(" · ")}
        </span>
      </div>
      {loaded && <Loaded loaded={loaded} />}
      {isBusy && <Progress label={text.common.loading} />}
      <div class="row">
        <button
          type="button"
          class="primary"
          onClick={() => {
            chosenName.value = name;
            go("chat");
          }}
        >
          {text.models.chat}
        </button>
        {loaded
          ? (
            <button
              type="button"
              class="quiet"
              disabled={isBusy}
              onClick={() => void during(() => load(name, 0))}
            >
              {text.models.unload}
            </button>
          )
          : (
            <>
              <button
                type="button"
                class="quiet"
                disabled={isBusy}
                onClick={() => void during(() => load(name, keep === "-1" ? -1 : keep))}
              >
                {text.models.load}
              </button>
              <select
                class="narrow"
                aria-label={text.models.keep}
                value={keep}
                onChange={(event) => setKeep(event.currentTarget.value)}
              >
                {Object.entries(text.models.keeps).map(([value, label]) => (
                  <option key={value} value={value}>{label}</option>
                ))}
              </select>
            </>
          )}
        <button type="button" class="quiet" disabled={isBusy} onClick={() => setAsked("copy")}>
          {text.models.copy}
        </button>
        <button
          type="button"
          class="quiet danger"
          disabled={isBusy}
          onClick={() => setAsked("delete")}
        >
          {text.models.remove}
        </button>
      </div>
      {asked === "copy" && <CopyDialog name={name} copy={copy} close={close} />}
      {asked === "delete" && <DeleteDialog name={name} remove={remove} close={close} />}
      <ModelDetails model={model} />
    </li>
  );
}

/** How long a model stays, counted down, and how far it is while it comes. */
function Loaded({ loaded }: { loaded: LoadedModel }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = (Date.parse(loaded.expires_at) - now) / 1000;
  const { loading } = loaded;
  if (loading) {
    return <Progress label={text.common.loading} value={loading.completed / loading.total} />;
  }
  const { refused_device: refused } = loaded;
  return (
    <p class="aside">
      {refused && <span class="badge bad">{text.models.refused(refused.name)}</span>}
      {refused && `${refused.faults[0]} · `}
      {[
        formatBytes(loaded.size),
        text.models.window(formatCount(loaded.context_length)),
        seconds > 86_400 * 365
          ? text.models.stays
          : text.models.leaves(formatSeconds(Math.max(1, Math.round(seconds)))),
      ].join(" · ")}
    </p>
  );
}

/** Asks for the name of a copy. */
function CopyDialog({ name, copy, close }: {
  name: string;
  copy: (destination: string) => void;
  close: () => void;
}) {
  const [value, setValue] = useState(`${name.split(":")[0]}-copy`);
  const submit = (event: Event) => {
    event.preventDefault();
    close();
    copy(value.trim());
  };
  return (
    <Dialog title={text.models.copyOf(name)} close={close}>
      <form class="stack" onSubmit={submit}>
        <Field label={text.models.copyTo} hint={text.models.copyHint}>
          <input
            type="text"
            required
            autocapitalize="off"
            value={value}
            onInput={(event) => setValue(event.currentTarget.value)}
            autofocus
          />
        </Field>
        <div class="row end">
          <button type="button" class="quiet" onClick={close}>{text.common.cancel}</button>
          <button type="submit" class="primary" disabled={!value.trim()}>{text.models.copy}</button>
        </div>
      </form>
    </Dialog>
  );
}

/** Asks whether a model may go. */
function DeleteDialog({ name, remove, close }: {
  name: string;
  remove: () => void;
  close: () => void;
}) {
  return (
    <Dialog title={text.models.confirm(name)} close={close}>
      <p class="soft">{text.models.confirmHint}</p>
      <div class="row end">
        <button type="button" class="quiet" autofocus onClick={close}>
          {text.common.cancel}
        </button>
        <button
          type="button"
          class="primary danger"
          onClick={() => {
            close();
            remove();
          }}
        >
          {text.models.remove}
        </button>
      </div>
    </Dialog>
  );
}
