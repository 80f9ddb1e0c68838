// The modules of the CPU device: one with what all models need, and one for each weight format. All
// import the memory of steps; those of formats also import a memory of weights, which can be the
// same one or one of several, since a memory ends at 4 GiB.

import { ACTIVATION_FUNCTIONS } from "../ops/activation.ts";
import { addQuantize } from "./quantize/kernel.ts";
import { addActivate } from "./activate/kernel.ts";
import { addEmbed } from "./embed/kernel.ts";
import type { DotProduct } from "./dot_product.ts";
import { addFloatProduct, isFloatFormat } from "./linear/float_kernel.ts";
import { isRowFormat } from "./formats/format.ts";
import type { FloatFormat, PackedFormat } from "./formats/mod.ts";
import { addNorm } from "./norm/kernel.ts";
import { addFloatPack, addPack, addRowPack } from "./pack.ts";
import { tableAddress } from "./linear/walk.ts";
import { addProduct, layoutOf } from "./linear/kernel.ts";
import { PANEL, PANEL_PAGES, WEIGHTS, WORK } from "./instances.ts";
import { type Memory, ModuleBuilder } from "./wasm/mod.ts";

/** A module of kernels that work in the working memory alone. */
export function workModule(
  add: (module: ModuleBuilder, work: Memory) => void,
): Uint8Array<ArrayBuffer> {
  const module = new ModuleBuilder();
  add(module, module.importMemory(WORK));
  return module.bytes();
}

/** A module of kernels that work in the working memory and a panel. */
export function panelModule(
  add: (module: ModuleBuilder, work: Memory, panel: Memory) => void,
): Uint8Array<ArrayBuffer> {
  const module = new ModuleBuilder();
  add(module, module.importMemory(WORK), module.importPrivateMemory(PANEL, PANEL_PAGES));
  return module.bytes();
}

/** Most compiled modules that are kept: those of some ten models that differ in all shapes. */
const MOST_COMPILED = 256;

const compiled = new Map<string, WebAssembly.Module>();

/**
 * A compiled module. It is kept, since the devices of one thread after another need the same ones, and
 * writing and compiling them is most of the time that a small model takes to load.
 *
 * @param key what the module does, and everything that its bytes depend on besides the machine
 */
export function compiledModule(key: string, build: () => Uint8Array<ArrayBuffer>) {
  const kept = compiled.get(key);
  if (kept) return kept;
  const module = new WebAssembly.Module(build());
  const [oldest] = compiled.keys();
  if (compiled.size === MOST_COMPILED) compiled.delete(oldest!);
  compiled.set(key, module);
  return module;
}

/** `quantize`, `norm`, and `activate_<name>` for each activation function. */
export function commonModule(machine: DotProduct, joins: boolean): Uint8Array<ArrayBuffer> {
  const module = new ModuleBuilder();
  const work = module.importMemory(WORK);
  addQuantize(module, work, machine, joins);
  addNorm(module, work);
  for (const name of ACTIVATION_FUNCTIONS) addActivate(module, work, name);
  return module.bytes();
}

/**
 * `pack`, `float_product`, `embed` and, of an integer format, `product`.
 *
 * @param joins whether the engine joins neighbouring vectors (engine_features.ts)
 */
export function formatModule(
  format: PackedFormat | FloatFormat,
  machine: DotProduct,
  joins = false,
): Uint8Array<ArrayBuffer> {
  const module = new ModuleBuilder();
  // The first memory's address is always in a register.
  const panel = module.importPrivateMemory(PANEL, PANEL_PAGES);
  const work = module.importMemory(WORK);
  const weights = module.importMemory(WEIGHTS);
  const memories = { work, weights, panel };
  const layout = layoutOf(format, machine, joins);
  if (isFloatFormat(layout)) addFloatPack(module, work, weights, layout);
  else {
    if (isRowFormat(layout)) {
      addRowPack(module, work, weights, layout);
      if (layout.table) module.data(memories.panel, tableAddress(layout), layout.table);
    } else addPack(module, work, weights, layout);
    addProduct(module, memories, layout, machine, joins);
  }
  addFloatProduct(module, memories, layout, machine, joins);
  addEmbed(module, memories, layout);
  return module.bytes();
}
