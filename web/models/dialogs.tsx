// What is asked before a model is copied or deleted.

import { useState } from "preact/hooks";
import { Dialog } from "../shell/dialogs.tsx";
import { text } from "../strings.ts";
import { Field } from "../ui/controls.tsx";

/** Asks for the name of a copy. */
export function CopyDialog({ name, copy, close }: {
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
export function DeleteDialog({ name, remove, close }: {
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
