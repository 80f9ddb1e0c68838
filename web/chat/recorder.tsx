// The microphone beside the field of questions: it records until it is told to end, and hands the sound
// over as a file of WebM or Ogg with Opus.

import { useEffect, useRef, useState } from "preact/hooks";
import { messageOf } from "../api/client.ts";
import { text } from "../strings.ts";
import { IconButton } from "../ui/controls.tsx";

/** What browsers record and servers read, the most usual first. */
const FORMATS = ["audio/webm;codecs=opus", "audio/ogg;codecs=opus"];

/** Bits for a second: speech needs no more. */
const BIT_RATE = 32_000;

/** Pages that are not secure have no microphone. */
const canRecord = "mediaDevices" in navigator && "MediaRecorder" in globalThis;

/** The button that records; while it does, the time, a button that ends it and one that discards it. */
export function Recorder({ mayStart, take, fail }: {
  /** Whether somebody is there for the sound; who says no also says why. */
  mayStart: () => boolean;
  take: (sound: File) => void;
  /** Takes a sentence of what went wrong. */
  fail: (fault: string) => void;
}) {
  const [seconds, setSeconds] = useState<number>();
  const recording = useRef<Recording | undefined>(undefined);
  const isAsked = useRef(false);
  const buttons = useRef<HTMLSpanElement>(null);
  const isRecording = seconds !== undefined;

  useEffect(() => {
    if (!isRecording) return;
    const started = performance.now();
    const clock = setInterval(
      () => setSeconds(Math.floor((performance.now() - started) / 1000)),
      250,
    );
    return () => clearInterval(clock);
  }, [isRecording]);

  // Whoever leaves the conversation is no longer listened to.
  useEffect(() => () => void recording.current?.end(), []);

  const start = async () => {
    if (isAsked.current || !mayStart()) return;
    isAsked.current = true;
    try {
      const begun = await record();
      // Whoever took long to allow it may have left.
      if (!buttons.current) return void begun.end();
      recording.current = begun;
      setSeconds(0);
    } catch (error) {
      fail(faultOf(error));
    }
    isAsked.current = false;
  };

  const end = async (isKept: boolean) => {
    const ended = recording.current;
    recording.current = undefined;
    setSeconds(undefined);
    if (!isKept) buttons.current?.querySelector("button")?.focus();
    const sound = await ended?.end();
    if (isKept && sound) take(sound);
  };

  if (!canRecord) return null;
  return (
    <span
      class="recorder"
      ref={buttons}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !isRecording) return;
        event.stopPropagation();
        void end(false);
      }}
    >
      <span role="status">
        {isRecording && (
          <>
            <span class="pulse" aria-hidden="true" />
            <span class="recorder-name">{text.speech.recording}</span>
          </>
        )}
      </span>
      {isRecording && <span role="timer" class="recorder-time">{clockOf(seconds)}</span>}
      <IconButton
        key="record"
        icon={isRecording ? "stop" : "microphone"}
        label={isRecording ? text.speech.done : text.speech.record}
        onClick={() => void (isRecording ? end(true) : start())}
      />
      {isRecording && (
        <IconButton
          icon="trash"
          label={text.speech.cancel}
          onClick={() => void end(false)}
        />
      )}
    </span>
  );
}

interface Recording {
  /** Gives the microphone back, and what was recorded. */
  end(): Promise<File>;
}

/** Records from now on. @throws DOMException, Error with a sentence */
async function record(): Promise<Recording> {
  const type = FORMATS.find((format) => MediaRecorder.isTypeSupported(format));
  if (!type) throw new Error(text.speech.noFormat);
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  const recorder = new MediaRecorder(stream, { mimeType: type, audioBitsPerSecond: BIT_RATE });
  const pieces: Blob[] = [];
  const ended = Promise.withResolvers<void>();
  recorder.addEventListener("dataavailable", ({ data }) => pieces.push(data));
  recorder.addEventListener("stop", () => ended.resolve());
  recorder.start();
  return {
    async end() {
      // A microphone that was pulled out has stopped it.
      if (recorder.state !== "inactive") recorder.stop();
      await ended.promise;
      for (const track of stream.getTracks()) track.stop();
      const [kind = ""] = type.split(";");
      return new File(pieces, `${text.speech.file}.${kind.replace("audio/", "")}`, { type: kind });
    },
  };
}

function faultOf(error: unknown): string {
  const { name } = error as Error;
  if (name === "NotAllowedError" || name === "SecurityError") return text.speech.refused;
  if (name === "NotFoundError") return text.speech.missing;
  if (name === "NotReadableError") return text.speech.busy;
  return messageOf(error);
}

function clockOf(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
