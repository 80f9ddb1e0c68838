// Files that go with a message: images and sounds as they are, text as text, PDF as the text of its
// pages. All of it happens in the browser.

import { text } from "../strings.ts";
import type { Attachment } from "./tree.ts";

/** Most bytes of a file. */
const MOST_BYTES = 20e6;

/** Images that servers take as they are; others are drawn anew as PNG. */
const IMAGES = ["image/png", "image/jpeg", "image/webp", "image/gif", "image/bmp"];

/** Whether a file is a sound that servers read. Of some, browsers know no type, or take it for a film's. */
export function isSound({ name, type }: File): boolean {
  return type.startsWith("audio/") || /\.(?:wav|flac|mp3|og[ga]|opus|webm|mka)$/i.test(name);
}

/** Reads a file. @throws Error that names it and says why it cannot be read */
export async function readAttachment(file: File): Promise<Attachment> {
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
  if (isSound(file)) return { name, kind: "sound", type, content: await toBase64(file) };
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
