// Files of which one key of the metadata is missing, or has a value at the end of what is possible or of
// another type: a load fails soon and names the key, or goes on with what the file says. It never hangs,
// and never fails for another reason than the file.

import { type GgufFile, type MetadataValue, readGguf } from "../../engine/gguf/mod.ts";
import { keysRead, type Trial, tryLoad, withMetadata } from "./trial.ts";

/** The longest that a load may take to say that it cannot, in milliseconds. */
export const LONGEST = 5000;

/** Values that a key is given. */
export const VALUES: readonly (MetadataValue | undefined)[] = [
  undefined,
  0,
  -1,
  0.5,
  2 ** 31,
  2 ** 32 - 1,
  2 ** 53 - 1,
  NaN,
  Infinity,
  "text",
  true,
  new Uint32Array(0),
  Float32Array.of(-1, NaN, 2 ** 31),
];

/** What came of the faults of a model. */
export interface MetadataReport {
  /** The load failed and named the key. */
  named: number;
  /** It failed for a tensor or another key that does not go together with it. */
  refused: number;
  loads: number;
  /** It failed as a defect does. */
  crashes: string[];
  /** It took longer than {@linkcode LONGEST}. */
  hangs: string[];
  /** Milliseconds of the slowest. */
  slowest: number;
}

/** Tries the faults of a model's keys, those that a load reads. */
export async function tryMetadataFaults(
  path: string | URL,
  { keep = () => true, load = tryLoad }: {
    keep?: (key: string) => boolean;
    load?: (gguf: GgufFile) => Promise<Trial>;
  } = {},
): Promise<MetadataReport> {
  const gguf = await readGguf(path);
  const report: MetadataReport = {
    named: 0,
    refused: 0,
    loads: 0,
    crashes: [],
    hangs: [],
    slowest: 0,
  };
  for (const key of (await keysRead(gguf, load)).filter(keep)) {
    for (const value of VALUES) {
      const { error, isOwn, milliseconds } = await load(withMetadata(gguf, { [key]: value }));
      const name = `${key} = ${typeof value === "object" ? `[${value}]` : value}`;
      if (error === undefined) report.loads++;
      else if (!isOwn) report.crashes.push(`${name}: ${error}`);
      else if (error.includes(key)) report.named++;
      else report.refused++;
      if (milliseconds > LONGEST) report.hangs.push(`${name}: ${milliseconds.toFixed(0)} ms`);
      report.slowest = Math.max(report.slowest, milliseconds);
    }
  }
  return report;
}
