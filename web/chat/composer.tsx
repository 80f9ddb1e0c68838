// Where questions are written: text, files that are pasted, dropped or chosen, and what is said.

import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { isAbort, messageOf } from "../api/client.ts";
import { chosenModel, transcribe, transcriber } from "../api/models.ts";
import { text } from "../strings.ts";
import { IconButton, Notice } from "../ui/controls.tsx";
import { ask, isAnswering, stop } from "./answering.ts";
import { isSound, readAttachment } from "./attachments.ts";
import { Attachments } from "./message.tsx";
import { ContextMeter } from "./meter.tsx";
import { ModelPicker } from "./model_picker.tsx";
import { Recorder } from "./recorder.tsx";
import { areSettingsOpen } from "./settings.tsx";
import type { Attachment } from "./tree.ts";

/** Files that come from elsewhere on the page. */
export const dropped = signal<File[]>([]);

/** What is being written to conversations that are not shown, by their ids. */
const drafts = new Map<string, { value: string; files: Attachment[] }>();

/** The field of questions of a conversation, with what stands around it. */
export function Composer({ id }: { id: string }) {
  const [value, setValue] = useState(drafts.get(id)?.value ?? "");
  const [files, setFiles] = useState<Attachment[]>(drafts.get(id)?.files ?? []);
  const [fault, setFault] = useState("");
  /** What ends the transcription on its way. */
  const [writing, setWriting] = useState<AbortController>();
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const answering = isAnswering.value;
  const model = chosenModel.value;
  const isLacking = (kind: Attachment["kind"], capability: string) =>
    files.some((file) => file.kind === kind) && !model?.capabilities.includes(capability);
  const isBlind = isLacking("image", "vision");
  const isDeaf = isLacking("sound", "audio");

  const take = async (list: Iterable<File>) => {
    setFault("");
    for (const file of list) {
      try {
        if (isSound(file) && !canHear()) await writeDown(file);
        else {
          const read = await readAttachment(file);
          setFiles((before) => [...before, read]);
        }
      } catch (error) {
        if (!isAbort(error)) setFault(messageOf(error));
      }
    }
  };

  /** Puts what is said in a sound at the end of the text. */
  const writeDown = async (sound: File) => {
    const { name } = transcriber.value ?? {};
    if (!name) throw new Error(text.speech.nobody);
    const abort = new AbortController();
    setWriting(abort);
    try {
      const said = await transcribe(name, sound, abort.signal);
      if (!said) throw new Error(text.speech.nothing);
      const add = (before: string) => before.trim() ? `${before.trimEnd()} ${said}` : said;
      if (field.current) {
        setValue(add);
        field.current.focus();
      } else {
        // Whoever is elsewhere by now finds it on coming back.
        const { value: before, files: others } = drafts.get(id) ?? { value: "", files: [] };
        drafts.set(id, { value: add(before), files: others });
      }
    } finally {
      setWriting(undefined);
    }
  };

  const mayRecord = () => {
    const may = canHear() || transcriber.value !== undefined;
    setFault(may ? "" : text.speech.nobody);
    return may;
  };

  useEffect(() => {
    if (dropped.value.length === 0) return;
    void take(dropped.value);
    dropped.value = [];
  }, [dropped.value]);

  useEffect(() => {
    field.current?.focus({ preventScroll: true });
  }, []);

  useEffect(() => {
    if (value || files.length > 0) drafts.set(id, { value, files });
    else drafts.delete(id);
  }, [value, files]);

  // The field grows with its text: its height is set here, since style sheets cannot know it.
  useEffect(() => {
    const element = field.current!;
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight, 220)}px`;
  }, [value]);

  const isEmpty = value.trim() === "" && files.length === 0;
  const canSend = model !== undefined && !isEmpty && !isBlind && !isDeaf;
  const submit = (event?: Event) => {
    event?.preventDefault();
    if (answering || !canSend) return;
    const question = value.trim();
    setValue("");
    setFiles([]);
    setFault("");
    ask(question, files).catch((error) => setFault(messageOf(error)));
  };

  const keys = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
    if (event.key === "ArrowUp" && value === "") {
      const buttons = document.querySelectorAll<HTMLElement>(".edit-button");
      const last = buttons[buttons.length - 1];
      if (last) {
        event.preventDefault();
        last.click();
      }
    }
  };

  return (
    <form class="composer" onSubmit={submit}>
      {fault && <Notice kind="error">{fault}</Notice>}
      {isBlind && <Notice>{text.chat.cannotSee}</Notice>}
      {isDeaf && <Notice>{text.chat.cannotHear}</Notice>}
      {writing && (
        <div class="waiting" role="status">
          <span class="pulse" aria-hidden="true" />
          {text.speech.transcribing(transcriber.value?.name ?? "")}
          <button type="button" class="quiet" onClick={() => writing.abort()}>
            {text.common.cancel}
          </button>
        </div>
      )}
      <div class="composer-box">
        <Attachments
          list={files}
          remove={(index) => setFiles(files.filter((_, at) => at !== index))}
        />
        <textarea
          ref={field}
          rows={1}
          value={value}
          aria-label={text.chat.composer}
          placeholder={text.chat.placeholder}
          onInput={(event) => setValue(event.currentTarget.value)}
          onKeyDown={keys}
          onPaste={(event) => {
            const pasted = [...event.clipboardData?.files ?? []];
            if (pasted.length === 0) return;
            event.preventDefault();
            void take(pasted);
          }}
        />
        <div class="composer-row">
          <ModelPicker />
          <ContextMeter />
          <span class="spring" />
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            tabIndex={-1}
            aria-label={text.chat.attach}
            onChange={(event) => {
              void take([...event.currentTarget.files ?? []]);
              event.currentTarget.value = "";
            }}
          />
          <IconButton
            icon="attach"
            label={text.chat.attach}
            onClick={() => picker.current?.click()}
          />
          <Recorder
            mayStart={mayRecord}
            take={(sound) => void take([sound])}
            fail={setFault}
          />
          <IconButton
            icon="settings"
            label={text.chat.settings}
            aria-expanded={areSettingsOpen.value}
            onClick={() => areSettingsOpen.value = !areSettingsOpen.value}
          />
          {answering
            ? <IconButton icon="stop" label={text.chat.stop} class="send" onClick={() => stop()} />
            : (
              <IconButton
                icon="send"
                label={text.chat.send}
                class="send"
                disabled={!canSend}
                onClick={submit}
              />
            )}
        </div>
      </div>
    </form>
  );
}

/** Whether the model that is asked takes sounds as they are. */
function canHear(): boolean {
  return chosenModel.value?.capabilities.includes("audio") ?? false;
}
