// `deno task test:faults [NAME...]`: every reference model, or those whose names contain one of the
// arguments, with each tensor removed, renamed and halved in turn, and each key of its metadata removed
// or set to what no model has; `--tensors`, `--metadata` and `--projectors` choose. Prints what came of it
// (named/not named/equal logits/different logits), and fails where a fault went unnoticed.

import { DATA, fixtureNames, readFixture } from "../conformance/logits.ts";
import { FAULTS, tryTensorFaults } from "./tensor_faults.ts";
import { tryMetadataFaults } from "./metadata_faults.ts";
import { tryEncoder, tryLoad } from "./trial.ts";

/**
 * What a file cannot be told from another sound one without: a head of its own, which may be the
 * embeddings; factors of the rotation; a bias of the logits; the sinks of the only layer of its kind.
 * None of the metadata speaks of them.
 */
const UNDECIDABLE = [
  "output.weight",
  "output.bias",
  "rope_freqs.weight",
  "blk.0.attn_sinks.weight",
];

const print = (text: string) => Deno.stdout.writeSync(new TextEncoder().encode(text + "\n"));

const args = Deno.args.filter((argument) => !argument.startsWith("--"));
const only = (part: string) =>
  !Deno.args.some((one) => one.startsWith("--")) || Deno.args.includes(part);
const total = { named: 0, unnamed: 0, equal: 0, different: 0, undecidable: 0 };
const keys = { named: 0, refused: 0, loads: 0, crashes: 0, hangs: 0, slowest: 0 };

for (const [folder, name] of await fixtureNames()) {
  if (args.length > 0 && !args.some((part) => name.includes(part))) continue;
  const { model, tokens } = await readFixture(folder, name);
  if (only("--tensors")) await reportTensors(name, model, tokens);
  if (only("--metadata")) await reportMetadata(name, model);
}
if (only("--projectors")) {
  for (const name of await projectorNames()) {
    await reportProjector(name);
  }
}
print(`tensors: ${JSON.stringify(total)}`);
print(`keys: ${JSON.stringify(keys)}`);
const failed = total.unnamed + total.different + keys.crashes + keys.hangs;
print(failed === 0 ? "all faults are noticed" : `${failed} faults are not`);
Deno.exit(failed === 0 ? 0 : 1);

async function reportTensors(name: string, model: URL, tokens: readonly number[]): Promise<void> {
  const { counts, misses } = await tryTensorFaults(model, { tokens: tokens.slice(0, 12) });
  const columns = FAULTS.map((fault) => {
    const { named, unnamed, equal, different } = counts[fault];
    total.named += named;
    total.equal += equal;
    return `${fault} ${named}/${unnamed}/${equal}/${different}`;
  });
  print(`${name.padEnd(23)}${columns.join("  ")}`);
  for (const { fault, tensor, state } of misses) {
    const isOther = state.startsWith("it loads") || state.startsWith("together");
    if (fault === "removed" && isOther && UNDECIDABLE.includes(tensor)) total.undecidable++;
    else if (isOther) total.different++;
    else total.unnamed++;
    print(`    ${tensor} ${fault}: ${state}`);
  }
}

/** Folders of the conformance data with an image encoder. */
async function projectorNames(): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(new URL("vision/", DATA)));
  const names = entries.filter(({ isDirectory }) => isDirectory).map(({ name }) => name).sort();
  return names.filter((name) => args.length === 0 || args.some((part) => name.includes(part)));
}

/** Of image encoders, what is not noticed here may be by the decoder that they are loaded for. */
async function reportProjector(name: string): Promise<void> {
  const model = new URL(`vision/${name}/mmproj.gguf`, DATA);
  const { counts, misses } = await tryTensorFaults(model, { tokens: [], load: tryEncoder });
  const columns = FAULTS.map((fault) => {
    const { named, unnamed, equal } = counts[fault];
    total.named += named;
    total.unnamed += unnamed;
    total.equal += equal;
    return `${fault} ${named}/${unnamed}/${equal}`;
  });
  print(`${`${name} (images)`.padEnd(23)}${columns.join("  ")}`);
  for (const { fault, tensor, state } of misses) print(`    ${tensor} ${fault}: ${state}`);
  if (only("--metadata")) await reportMetadata(`${name} (images)`, model, tryEncoder);
}

async function reportMetadata(name: string, model: URL, load = tryLoad): Promise<void> {
  const faults = await tryMetadataFaults(model, { load });
  const { named, refused, loads, crashes, hangs, slowest } = faults;
  keys.named += named;
  keys.refused += refused;
  keys.loads += loads;
  keys.crashes += crashes.length;
  keys.hangs += hangs.length;
  keys.slowest = Math.max(keys.slowest, slowest);
  print(`${name.padEnd(23)}keys: ${named} named, ${refused} refused, ${loads} load`);
  for (const state of [...crashes, ...hangs]) print(`    ${state}`);
}
