// Products of a weight matrix with int8 activations: y = W x. For few tokens the codes of a band are read
// in place. For some more, the codes of a group are copied to a panel (panel.ts) and multiplied with all
// tokens at once (several_pairs.ts). For many, some groups are first expanded there, which all tokens then
// read.

import { forBands, forTiles, MOST_TOKENS, PRODUCT_ARGUMENTS, type TileAddresses } from "./bands.ts";
import { forLoneTile } from "./stored_sums.ts";
import { i32, type Local, type ModuleBuilder } from "../wasm/mod.ts";
import { activationBytes } from "../quantize/kernel.ts";
import { type DotMethod, dotMethodOf, type DotProduct } from "../dot_product.ts";
import {
  type BandFormat,
  blockBytes,
  GROUP,
  isRowFormat,
  maximumCode,
  type PackedFormat,
  STEPS,
} from "../formats/format.ts";
import type { FloatFormat } from "../formats/floats.ts";
import { forLoneToken } from "./lone_token.ts";
import { addKernel } from "../kernel.ts";
import { fillPanel, panelGroup, stageGroup, walkPanel } from "./panel.ts";
import {
  addLoneToken,
  addStagedGroup,
  addTile,
  addTileInPlace,
  type Product,
  type ProductMemories,
  type Walk,
} from "./tile.ts";
import { addSeveralPairs } from "./several_pairs.ts";
import { addPairProduct } from "./two_bands.ts";
import { walkBands, walkBlocks } from "./walk.ts";

/** Tokens of a tile: registers hold eight sums beside the operands. */
const TILE = 4;
/**
 * Tokens of a tile whose sums over groups are in memory: registers hold those of a group alone, so that
 * twice as many tokens share the codes that have been read.
 */
const LONE_TILE = 8;
/** Most tokens for which each group of two bands is unpacked for sixteen of them at a time. */
const MOST_STAGED = 32;
/** Groups of a panel: 1024 columns, which fit a first-level cache together with activations. */
const PANEL_GROUPS = 32;
/**
 * Most groups that are read at constant addresses. With fewer, sums would be written to memory more
 * often; with more, the code would not fit the CPU's cache of decoded instructions.
 */
function mostUnrolled({ kind, run }: DotMethod): number {
  return kind === "turned" || (kind === "pairs" && run < STEPS / 2) ? 4 : 8;
}
/**
 * Tokens that are multiplied with a staged group at a time: as many as fit the registers, which also hold
 * sums of 16 bits if these are added more than once.
 */
function tokensOfStaged({ method: { kind, run }, format }: Product): number {
  const steps = format.scales.halves ? STEPS / 2 : STEPS;
  return kind === "pairs" && run < steps ? LONE_TILE / 2 : LONE_TILE;
}

/** Bytes for intermediate values; the tables of formats follow (walk.ts). */
export const PANEL_BYTES = 65536 * 4;

/** Whether a format's products of few tokens read the second form of activations on a machine. */
export function readsWide(format: PackedFormat, machine: DotProduct, joins: boolean): boolean {
  return methodOf(format, machine, joins).isWide;
}

function methodOf(format: PackedFormat, machine: DotProduct, joins: boolean): DotMethod {
  return dotMethodOf(machine, maximumCode(format), joins ? "words" : "magnitudes");
}

/** A format as its weights lie in memory: by steps only where V8 joins vectors, "words" always. */
export function layoutOf<F extends PackedFormat | FloatFormat>(
  format: F,
  machine: DotProduct,
  joins: boolean,
): F {
  if (!("bits" in format)) return format;
  const isInWords = methodOf(format, machine, joins).kind === "words";
  return { ...format, inSteps: joins && (isInWords || format.inSteps === true) };
}

/** Whether its products of many tokens, which read panels, do so. */
export function panelsReadWide(format: PackedFormat, machine: DotProduct, joins: boolean): boolean {
  return panelMethod(format, machine, joins).isWide;
}

function panelMethod(format: PackedFormat, machine: DotProduct, joins: boolean): DotMethod {
  return dotMethodOf(machine, maximumCode(format), joins ? "turned" : "magnitudes");
}

/** Whether some of so many tokens are multiplied without panels: all, or those that remain after whole ones. */
export function multipliesInPlace(tokens: number): boolean {
  const rest = tokens % MOST_TOKENS;
  return tokens <= MOST_STAGED || rest > 0 && rest <= LONE_TILE;
}

/** Whether V8 can join the vectors of a format's groups as they are read in place. */
function joinsInPlace(format: PackedFormat): boolean {
  return !isRowFormat(format) && format.inSteps === true;
}

/** The kernel of a product, and how many bands an item of it has. */
export interface ProductKernel {
  readonly name: string;
  readonly bands: 1 | 2;
  /** Bands that it multiplies side by side: it is slower with fewer. Default 1. */
  readonly runs?: number;
}

/** What the choice of a kernel depends on besides format and tokens. */
export interface ProductSetting {
  readonly machine: DotProduct;
  /** Whether the engine joins neighbouring vectors. */
  readonly joins: boolean;
  readonly hasExperts?: boolean;
}

/** The kernel for a number of tokens, or for pairs of this number of tokens with experts. */
export function productKernel(
  format: PackedFormat,
  tokens: number,
  { machine, joins, hasExperts = false }: ProductSetting,
): ProductKernel {
  if (tokens === 1 && !isRowFormat(format)) {
    const { inSteps } = layoutOf(format, machine, joins);
    return { name: "product_one", bands: 1, runs: runsOf(inSteps === true) };
  }
  const hasPairs = joins && !hasExperts;
  if (tokens > 1 && tokens <= MOST_STAGED && hasPairs && !isRowFormat(format)) {
    return { name: "several_pairs", bands: 2 };
  }
  if (tokens <= TILE) return { name: "product_few", bands: 1 };
  if (tokens <= LONE_TILE) return { name: "product_several", bands: 1 };
  return hasPairs ? { name: "product_pairs", bands: 2 } : { name: "product", bands: 1 };
}

/**
 * Adds `product(record, first, last)` (PRODUCT_ARGUMENTS) for items `first` to `last`, bands of eight
 * rows, `product_few` for few tokens alone, because engines optimize a small function much sooner,
 * `product_several` or `several_pairs` for some more, and `product_one` for one, see productKernel().
 * Activations are int8 groups, in the form that readsWide() and panelsReadWide() tell.
 *
 * @param format as layoutOf() gives it
 * @param joins whether the engine joins neighbouring vectors
 */
export function addProduct(
  module: ModuleBuilder,
  memories: ProductMemories,
  format: PackedFormat,
  machine: DotProduct,
  joins: boolean,
): void {
  const product: Product = { format, method: methodOf(format, machine, joins), memories };
  const byPanels: Product = { ...product, method: panelMethod(format, machine, joins) };
  const groupsOfBlock = format.source.blockSize / GROUP;
  const { work, panel } = memories;
  const addWith = (name: "product" | "product_few" | "product_several") =>
    addKernel(module, work, { name, takes: PRODUCT_ARGUMENTS }, (f, given, first, last) => {
      const isStaged = joins && name === "product_several";
      const few = isStaged ? LONE_TILE : isRowFormat(format) ? 0 : TILE;
      const items = { first, last, blockBytes: blockBytes(format), few };
      forBands(f, memories, given, items, ({ begin, end, tokens, isFew }) => {
        const offset = f.let(i32.const(0));
        const strideOf = ({ method }: Product) =>
          f.let(i32.mul(given.all, activationBytes(method.isWide)));
        const forAllTiles = (offset: Local<"i32">, body: (tile: TileAddresses) => void) =>
          forTiles(f, panel, { tokens, offset, sizes: [TILE, 1] }, body);
        const multiplyInPlace = () => {
          const groupStride = strideOf(product);
          const walk: Walk = (body) => walkBlocks(f, product, begin, end, body);
          if (!joinsInPlace(format)) {
            return forAllTiles(
              offset,
              (tile) => addTile(f, product, { ...tile, groupStride }, walk),
            );
          }
          const isFirst = f.let(i32.const(1));
          forAllTiles(
            offset,
            (tile) => addTileInPlace(f, product, { ...tile, isFirst, groupStride }, walk),
          );
        };
        const multiplyByPanels = () => {
          const groupStride = strideOf(byPanels);
          const from = f.let(begin);
          const to = f.local("i32");
          const rest = f.let(given.blocks);
          const isFirst = f.let(i32.const(1));
          const multiplyPanel = (
            count: Local<"i32">,
            tiles: (panelEnd: Local<"i32">) => void,
          ) => {
            f.set(to, i32.add(from, i32.mul(count, blockBytes(format))));
            tiles(fillPanel(f, byPanels, { from, end: to }));
            f.set(from, to);
            f.increase(offset, i32.mul(count, i32.mul(groupStride, groupsOfBlock)));
            f.set(rest, i32.sub(rest, count));
            f.set(isFirst, 0);
          };
          if (joins) {
            const most = mostUnrolled(byPanels.method);
            const counts = [most, 2, 1];
            for (const groups of new Set(counts.map((groups) => Math.max(groups, groupsOfBlock)))) {
              const count = f.let(i32.const(groups / groupsOfBlock));
              f.while(i32.ge_u(rest, count), () =>
                multiplyPanel(count, () => {
                  for (let first = 0; first < groups; first += most) {
                    const end = Math.min(groups, first + most);
                    const start = f.let(i32.add(offset, i32.mul(groupStride, first)));
                    forAllTiles(start, (tile) =>
                      addTileInPlace(f, byPanels, { ...tile, isFirst, groupStride }, (body) => {
                        for (let group = first; group < end; group++) {
                          body(panelGroup(f, byPanels, group));
                        }
                      }));
                    f.set(isFirst, 0);
                  }
                }));
            }
            return;
          }
          f.doWhile(() => {
            const count = f.let(i32.const(PANEL_GROUPS / groupsOfBlock));
            f.if(i32.lt_u(rest, count), () => f.set(count, rest));
            multiplyPanel(
              count,
              (panelEnd) =>
                forAllTiles(offset, (tile) =>
                  addTile(
                    f,
                    byPanels,
                    { ...tile, isFirst, groupStride },
                    (body) => walkPanel(f, byPanels, panelEnd, body),
                  )),
            );
          }, rest);
        };
        const multiplyStaged = () => {
          const groupStride = strideOf(product);
          forLoneTile(
            f,
            panel,
            { tokens, size: LONE_TILE },
            (inputs, sums) =>
              walkBlocks(f, product, begin, end, (source) => {
                const group = stageGroup(f, product, source);
                const size = tokensOfStaged(product);
                for (let t = 0; t < LONE_TILE; t += size) {
                  const [some, their] = [inputs.slice(t, t + size), sums.slice(t, t + size)];
                  addStagedGroup(f, product, group, some, their);
                }
                for (const x of inputs) f.increase(x, groupStride);
              }),
          );
        };
        const multiplyMany = isStaged ? multiplyStaged : multiplyByPanels;
        // Blocks that are slow to decode are decoded once, even for few tokens.
        if (isRowFormat(format)) multiplyMany();
        else if (name === "product_few") multiplyInPlace();
        else f.if(isStaged ? i32.le_u(tokens, TILE) : isFew, multiplyInPlace, multiplyMany);
      });
    });
  addWith("product");
  addWith("product_few");
  addWith("product_several");
  if (joins) addPairProduct(module, byPanels, mostUnrolled(byPanels.method));
  if (isRowFormat(format)) return;
  addLoneProduct(module, product, format);
  if (joins) {
    const atOnce = Math.min(TILE, tokensOfStaged(product));
    addSeveralPairs(module, product, format, atOnce);
  }
}

/** Runs of bands side by side for one token: with joined vectors there are registers for more. */
const RUNS = { joined: 4, apart: 3 };

function runsOf(inSteps: boolean): number {
  return inSteps ? RUNS.joined : RUNS.apart;
}

/** Adds `product_one`: one token, with the whole matrix or with each of its experts. */
function addLoneProduct(module: ModuleBuilder, product: Product, format: BandFormat): void {
  const { memories, method } = product;
  const kernel = { name: "product_one", takes: PRODUCT_ARGUMENTS };
  addKernel(module, memories.work, kernel, (f, given, first, last) => {
    const items = {
      first,
      last,
      runs: runsOf(format.inSteps === true),
      blockBytes: blockBytes(format),
    };
    const groupStride = f.let(i32.mul(given.all, activationBytes(method.isWide)));
    forLoneToken(
      f,
      memories,
      given,
      items,
      ({ x, begins, end, totals }) =>
        walkBands(f, product, format, { begins, end }, (group) => {
          addLoneToken(f, product, x, group, totals);
          f.increase(x, groupStride);
        }),
    );
  });
}
