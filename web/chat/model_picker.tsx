// Which model answers: what each can do, how large it is, and whether it is in memory.

import { chosenModel, chosenName, loadedModels, models } from "../api/models.ts";
import { text } from "../strings.ts";
import { formatBytes } from "../ui/format.ts";

/** The choice of a model. */
export function ModelPicker({ label = text.common.model }: { label?: string }) {
  const all = models.value ?? [];
  const loaded = new Set(loadedModels.value.map(({ name }) => name));
  const { name = "" } = chosenModel.value ?? {};
  return (
    <span class="model-picker">
      <span
        class={`dot ${loaded.has(name) ? "on" : ""}`}
        title={loaded.has(name) ? text.picker.loaded : text.picker.notLoaded}
      />
      <select
        aria-label={label}
        value={name}
        onChange={(event) => chosenName.value = event.currentTarget.value}
      >
        {all.map((model) => (
          <option key={model.name} value={model.name}>
            {[
              model.name,
              model.capabilities.filter((one) => one !== "completion").join(", "),
              formatBytes(model.size),
              loaded.has(model.name) ? text.picker.loaded : "",
            ].filter(Boolean).join(" · ")}
          </option>
        ))}
      </select>
    </span>
  );
}
