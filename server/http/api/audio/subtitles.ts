// Segments or words as subtitles: SubRip, and WebVTT (https://www.w3.org/TR/webvtt1/). Pure.

import type { TranscriptSegment } from "../../../../engine/mod.ts";

/** A part of a transcript, in seconds. */
export type Subtitle = Pick<TranscriptSegment, "start" | "end" | "text">;

/** SubRip's form: numbered from `first` on, and times with a comma. */
export function subRip(parts: readonly Subtitle[], first = 1): string {
  return parts.map(({ start, end, text }, i) =>
    `${first + i}\n${timeOf(start, ",")} --> ${timeOf(end, ",")}\n${oneLine(text)}\n\n`
  ).join("");
}

/** WebVTT, in which "-->" and "&" have a meaning, with its header unless something came before. */
export function webVtt(parts: readonly Subtitle[], hasHeader = true): string {
  const cues = parts.map(({ start, end, text }) => {
    const escaped = oneLine(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;");
    return `${timeOf(start, ".")} --> ${timeOf(end, ".")}\n${escaped}\n\n`;
  });
  return (hasHeader ? "WEBVTT\n\n" : "") + cues.join("");
}

/** An empty line would end a subtitle. */
function oneLine(text: string): string {
  return text.trim().replaceAll(/\s*[\r\n]+\s*/g, " ");
}

/** Hours, minutes, seconds and thousandths. */
function timeOf(seconds: number, mark: "," | "."): string {
  const all = Math.round(seconds * 1000);
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  const clock = [all / 3_600_000, all / 60_000 % 60, all / 1000 % 60].map(two).join(":");
  return `${clock}${mark}${String(all % 1000).padStart(3, "0")}`;
}
