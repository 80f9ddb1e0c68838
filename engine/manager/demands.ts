// What a request demands of its model's load, and whether a loaded model meets it. A window decides
// what an answer can be, so each request gets the one that it names, else the default, whatever the
// model was loaded for. The other options only decide how fast it comes: claim.ts says when a request
// that names none of them takes a load that somebody else named some for.

import type { AskedLoad } from "./types.ts";
import type { ManagedModel } from "./managed_model.ts";

/** The demands of a request on a load. Automatic values are no demand. */
export function demandsOf(
  { contextLength, gpuLayers = -1, prefillChunk, draft }: AskedLoad,
): AskedLoad {
  return {
    ...(contextLength !== undefined && { contextLength }),
    ...(gpuLayers >= 0 && { gpuLayers }),
    ...(prefillChunk !== undefined && { prefillChunk }),
    ...(draft !== undefined && { draft }),
  };
}

/** Whether a request names an option besides the window. */
export function namesOptions({ gpuLayers, prefillChunk, draft }: AskedLoad): boolean {
  return gpuLayers !== undefined || prefillChunk !== undefined || Boolean(draft);
}

/**
 * The window that a request gets of a loaded model, in tokens; undefined if the model's is too
 * small for it.
 *
 * @param automatic the window of a load that names none, or undefined if that is not known
 */
export function windowFor(
  { model, asked, entry }: ManagedModel,
  request: AskedLoad,
  automatic: number | undefined,
): number | undefined {
  const { contextLength } = model!;
  if (entry.source.kind === "remote") return contextLength;
  if (request.contextLength === undefined && asked.contextLength === undefined) {
    return contextLength;
  }
  const { trainedContextLength } = entry.info;
  const wanted = Math.min(
    request.contextLength ?? automatic ?? Infinity,
    trainedContextLength,
  );
  // A model may give less than the window that it was loaded for.
  const isEnough = wanted <= Math.max(contextLength, asked.contextLength ?? 0);
  return isEnough ? Math.min(wanted, contextLength) : undefined;
}

/**
 * How the options of a load, besides the window, stand to those of a request: they are those that it
 * gets; others that somebody named, while this request named none; or not those that it named.
 */
export function compareOptions(
  { asked, fitted, entry }: ManagedModel,
  request: AskedLoad,
): "same" | "unnamed" | "other" {
  if (entry.source.kind === "remote") return "same";
  const layers = fitted?.estimate.layout?.layers;
  const layersOf = ({ gpuLayers }: AskedLoad) =>
    layers === undefined || gpuLayers === undefined ? undefined : Math.min(gpuLayers, layers);
  const loadedLayers = layersOf(fitted?.options ?? asked) ?? layers;
  const agreements = [
    compare(request.draft, asked.draft || undefined, asked.draft ?? ""),
    compare(request.prefillChunk, asked.prefillChunk, asked.prefillChunk),
    compare(
      layersOf(request),
      layersOf(asked) === layers ? undefined : layersOf(asked),
      loadedLayers,
    ),
  ];
  if (agreements.includes("other")) return "other";
  return agreements.includes("unnamed") ? "unnamed" : "same";
}

/** @param named what was named for the load @param loaded what it has */
function compare<T>(wanted: T | undefined, named: T | undefined, loaded: T | undefined) {
  if (wanted !== undefined) return wanted === loaded ? "same" : "other";
  return named === undefined ? "same" : "unnamed";
}
