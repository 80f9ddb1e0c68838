// The judgment of what is said to the page: the microphone, files of sounds, a Whisper that writes them
// down, and a model that hears. The models are as small as can be: what they make of it is tested elsewhere.

import { assert, assertEquals } from "@std/assert";
import type { Page } from "puppeteer-core";
import { DATA, hasData } from "../../conformance/logits.ts";
import { wavOf } from "../../engine/audio/sound_files.ts";
import { writeTinyWhisper } from "../../engine/speech/tiny_whisper.ts";
import {
  askQuestion,
  click,
  type Judgment,
  openView,
  PATIENCE,
  picture,
  report,
  seriousFaults,
} from "../actions.ts";

// Functions given to the page run there, with a browser's globals, of which this program has no types.
// deno-lint-ignore no-explicit-any
declare const document: any, navigator: any, Navigator: any, DataTransfer: any, DragEvent: any;

/** Judges speech. */
export async function judgeSpeech({ step, browser, page, url }: Judgment): Promise<void> {
  const folder = await Deno.makeTempDir();

  await step("where nobody listens, the page says which model to make", async () => {
    await page.goto(url);
    await openView(page, "chat");
    await page.reload({ waitUntil: "networkidle0" });
    await click(page, "Speak");
    await page.waitForSelector("::-p-text(create one of Whisper)", { timeout: PATIENCE });
    assertEquals(await page.$(".recorder-time"), null);
  });

  await step("what is said becomes text of the question, where a Whisper is", async () => {
    await writeTinyWhisper(`${folder}/whisper.gguf`);
    await create(url, "whisper", [`${folder}/whisper.gguf`]);
    await page.reload({ waitUntil: "networkidle0" });
    await page.type(".composer textarea", "Before.");
    await speak(page);
    const [name, text] = await transcriptOf(page, () => click(page, "End the recording"));
    // A browser's file of WebM.
    assertEquals(name, "recording.webm");
    assert(text.length > 0, "nothing was written down");
    await page.waitForFunction(
      (text) => document.querySelector(".composer textarea").value === `Before. ${text}`,
      { timeout: PATIENCE },
      text,
    );
    assertEquals(await page.$(".composer > .waiting"), null);
    assertEquals(await page.$(".composer .attachments li"), null);
  });

  await step("files of sounds are written down, too", async () => {
    await clear(page);
    const [name, text] = await transcriptOf(page, () => drop(page, "talk.wav"));
    assertEquals(name, "talk.wav");
    await page.waitForFunction(
      (text) => document.querySelector(".composer textarea").value === text,
      { timeout: PATIENCE },
      text,
    );
  });

  await step("who looks elsewhere meanwhile finds the text on coming back", async () => {
    await clear(page);
    const [, text] = await transcriptOf(page, async () => {
      await drop(page, "long.wav", 150);
      await page.waitForSelector(".composer > .waiting");
      await openView(page, "models");
      await page.waitForFunction(() => !document.querySelector(".composer"));
    });
    await new Promise((resolve) => setTimeout(resolve, 300));
    await openView(page, "chat");
    await page.waitForFunction(
      (text) => document.querySelector(".composer textarea")?.value === text,
      { timeout: PATIENCE },
      text,
    );
  });

  await step("what is being written down is called off", async () => {
    await clear(page);
    await drop(page, "long.wav", 300);
    await page.waitForSelector(".composer > .waiting button", { timeout: PATIENCE });
    await page.click(".composer > .waiting button");
    await page.waitForFunction(() => !document.querySelector(".composer > .waiting"));
    assertEquals(await page.$(".composer .notice"), null);
    assertEquals(await page.$eval(".composer textarea", (one) => one.value), "");
  });

  await step("a recording is discarded, by its button and by Escape", async () => {
    let asked = 0;
    const count = (request: { url(): string }) =>
      asked += Number(request.url().includes("/audio/"));
    page.on("request", count);
    for (
      const discard of [
        () => click(page, "Discard the recording"),
        () => page.keyboard.press("Escape"),
      ]
    ) {
      await speak(page);
      assertEquals(await seriousFaults(page), []);
      await picture(page, "recording");
      await discard();
      await page.waitForFunction(() => !document.querySelector(".recorder-time"));
      const focused = await page.evaluate(() => document.activeElement.ariaLabel);
      assertEquals(focused, "Speak");
    }
    page.off("request", count);
    assertEquals(asked, 0);
  });

  await step("a microphone that is refused or missing is told in a sentence", async () => {
    for (
      const [name, sentence] of [
        ["NotAllowedError", "The microphone may not be used"],
        ["NotFoundError", "There is no microphone"],
      ]
    ) {
      await page.evaluate((name) => {
        navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("", name));
      }, name);
      await click(page, "Speak");
      await page.waitForSelector(`[role="alert"] ::-p-text(${sentence})`, { timeout: PATIENCE });
    }
    await page.reload({ waitUntil: "networkidle0" });
  });

  if (!hasData) report("no model that hears is there");
  else {await step("a model that hears gets the sounds with the question", async () => {
      const files = ["text.gguf", "qwen2a/mmproj.gguf"].map((name) =>
        new URL(`audio/${name}`, DATA)
      );
      await create(url, "hearing", files, {
        template: "{{ .Prompt }}",
        parameters: { num_predict: 4 },
      });
      await page.evaluate(() => localStorage.setItem("quern-model", "hearing:latest"));
      await page.reload({ waitUntil: "networkidle0" });
      await speak(page);
      await click(page, "End the recording");
      await page.waitForSelector('.composer audio[aria-label="Sound: recording.webm"]', {
        timeout: PATIENCE,
      });
      await drop(page, "talk.wav");
      await page.waitForSelector('.composer audio[aria-label="Sound: talk.wav"]');
      assertEquals(await seriousFaults(page), []);
      await picture(page, "sounds");
      let sent = "";
      page.once("request", (request) => sent = request.postData() ?? "");
      await askQuestion(page, "What is said?");
      const { audio } = JSON.parse(sent).messages.at(-1);
      assertEquals(audio.map((one: string) => one.slice(0, 4)), ["GkXf", "UklG"]);
      assertEquals(await page.$(".answer .notice.error"), null);
      assert(await page.$(".question audio"));
      // It plays: the policy of the page allows it.
      await page.waitForFunction(() => document.querySelector(".question audio").readyState > 0, {
        timeout: PATIENCE,
      });
    });}

  await step("a page that is not secure has no button that could only fail", async () => {
    const other = await browser.newPage();
    await other.evaluateOnNewDocument(() => delete Navigator.prototype.mediaDevices);
    await other.goto(url);
    await other.waitForSelector('[aria-label^="Attach"]', { timeout: PATIENCE });
    assertEquals(await other.$('[aria-label="Speak"]'), null);
    await other.close();
  });

  await Deno.remove(folder, { recursive: true });
}

/** Begins a recording, and lets a second go by. */
async function speak(page: Page): Promise<void> {
  await page.click('[aria-label="Speak"]');
  await page.waitForFunction(
    () => document.querySelector(".recorder-time")?.textContent === "0:01",
    { timeout: PATIENCE },
  );
}

/** The name of the file that is sent when something is done, and the text that comes of it. */
async function transcriptOf(page: Page, action: () => Promise<void>): Promise<[string, string]> {
  const answered = page.waitForResponse(
    (response) => response.url().endsWith("/v1/audio/transcriptions"),
    { timeout: PATIENCE },
  );
  await action();
  const response = await answered;
  const form = atob(await response.request().fetchPostData() ?? "");
  const [, name = ""] = /filename="([^"]+)"/.exec(form) ?? [];
  return [name, (await response.json()).text];
}

/** Empties the field. */
async function clear(page: Page): Promise<void> {
  await page.$eval(".composer textarea", (one) => one.select());
  await page.keyboard.press("Backspace");
}

/** Drops a file of a sound. */
async function drop(page: Page, name: string, seconds = 1): Promise<void> {
  const bytes = wavOf(
    Float32Array.from({ length: 16_000 * seconds }, (_, index) => Math.sin(index / 9) / 2),
  );
  await page.evaluate(
    (name, bytes) => {
      const transfer = new DataTransfer();
      const content = Uint8Array.from(atob(bytes), (sign) => sign.charCodeAt(0));
      transfer.items.add(new File([content], name, { type: "audio/wav" }));
      const may = { bubbles: true, cancelable: true };
      document.querySelector(".chat").dispatchEvent(
        new DragEvent("drop", { ...may, dataTransfer: transfer }),
      );
    },
    name,
    bytes.toBase64(),
  );
}

/** Makes a model of files. */
async function create(
  url: string,
  model: string,
  paths: (string | URL)[],
  more: object = {},
): Promise<void> {
  const files: Record<string, string> = {};
  for (const [index, path] of paths.entries()) {
    const body = await Deno.readFile(path);
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", body)).toHex();
    files[`${index}.gguf`] = `sha256:${hash}`;
    await post(`${url}/api/blobs/sha256:${hash}`, body);
  }
  await post(`${url}/api/create`, JSON.stringify({ model, files, stream: false, ...more }));
}

async function post(url: string, body: string | Uint8Array<ArrayBuffer>): Promise<void> {
  const response = await fetch(url, { method: "POST", body });
  const text = await response.text();
  assert(response.ok, text);
}
