// Where questions are written: text, and files that are pasted, dropped or chosen.

import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { messageOf } from "../api/client.ts";
import { chosenModel } from "../api/models.ts";
import { text } from "../strings.ts";
import { IconButton, Notice } from "../ui/controls.tsx";
import { ask, isAnswering, stop } from "./answering.ts";
import { Attachments } from "./message.tsx";
import { ContextMeter } from "./meter.tsx";
import { ModelPicker } from "./model_picker.tsx";
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
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const answering = isAnswering.value;
  const model = chosenModel.value;
  const isBlind = files.some(({ kind }) => kind === "image") &&
    !model?.capabilities.includes("vision");

  const take = async (list: Iterable<File>) => {
    setFault("");
    for (const file of list) {
      try {
        const read = await readAttachment(file);
        setFiles((before) => [...before, read]);
      } catch (error) {
        setFault(messageOf(error));
      }
    }
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
  const submit = (event?: Event) => {
    event?.preventDefault();
    if (answering || !model || isEmpty || isBlind) return;
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
                disabled={!model || isEmpty || isBlind}
                onClick={submit}
              />
            )}
        </div>
      </div>
    </form>
  );
}

// Files that go with a message: images as they are, text as text, PDF as the text of its pages. All of
// it happens in the browser.

/** Most bytes of a file. */
const MOST_BYTES = 20e6;

/** Images that servers take as they are; others are drawn anew as PNG. */
const IMAGES = ["image/png", "image/jpeg", "image/webp", "image/gif", "image/bmp"];

/** Reads a file. @throws Error that names it and says why it cannot be read */
async function readAttachment(file: File): Promise<Attachment> {
  try {
    return await read(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(text.chat.unreadable(file.name, reason));
  }
}

async function read(file: File): Promise<Attachment> {
  const { name, type } = file;
  if (file.size > MOST_BYTES) throw new Error(text.chat.tooLarge);
  if (type.startsWith("image/")) {
    const image = IMAGES.includes(type) ? file : await asPng(file);
    return { name, kind: "image", type: image.type, content: await toBase64(image) };
  }
  if (type === "application/pdf" || /\.pdf$/i.test(name)) {
    return {
      name,
      kind: "text",
      type: "text/plain",
      content: await pdfText(await file.arrayBuffer()),
    };
  }
  const content = await file.text();
  if (content.includes("\0")) throw new Error(text.chat.noText);
  return { name, kind: "text", type: "text/plain", content };
}

async function pdfText(data: ArrayBuffer): Promise<string> {
  const { readPdf } = await import("./pdf.ts");
  const { content: path } = document.querySelector<HTMLMetaElement>('meta[name="pdf-worker"]')!;
  const worker = new Worker(path, { type: "module" });
  try {
    return await readPdf(worker, data);
  } finally {
    worker.terminate();
  }
}

async function asPng(file: Blob): Promise<Blob> {
  const bitmap = await createImageBitmap(file);
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  canvas.getContext("2d")!.drawImage(bitmap, 0, 0);
  return await canvas.convertToBlob({ type: "image/png" });
}

async function toBase64(file: Blob): Promise<string> {
  return await new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve((reader.result as string).replace(/^[^,]*,/, ""));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
