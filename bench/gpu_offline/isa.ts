// Reads what RADV writes of the kernels that it compiles (RADV_DEBUG=shaders,shaderstats): the
// statistics, and of the machine code which loops there are, how many instructions a turn of one has,
// and how many loads are under way at a time. Knows AMD's instructions from GFX9 to GFX12.

import { type KernelMark, MARK } from "./kernels.ts";

/** Figures of a kernel's machine code. */
export interface KernelCode extends KernelMark {
  /** Vector registers of an invocation, of 4 bytes. */
  readonly registers: number;
  /** Of these, how many are kept in memory. */
  readonly spilled: number;
  /** Bytes of workgroup memory. */
  readonly workgroupBytes: number;
  /** Subgroups that a SIMD runs at once, as registers and memory allow. */
  readonly occupancy: number;
  readonly instructions: number;
  /**
   * Instructions of the longest loop that loads from memory and contains no other; for a product,
   * of the first such loop, because a later one writes its results. 0 if there is none. Of several
   * products in one kernel, those of the longest loop.
   */
  readonly loopInstructions: number;
  /**
   * Most loads from memory that an invocation has under way in a loop, or anywhere without loops. Of
   * several products, those of the one with the fewest.
   */
  readonly loadsInFlight: number;
  /** Instructions that multiply matrices. */
  readonly matrixProducts: number;
  /** Instructions of that loop for 32 weights, of products. */
  readonly perGroup?: number;
}

/** A run of instructions without jumps into it. */
interface Block {
  readonly name: string;
  readonly instructions: string[];
}

const STATISTICS = {
  registers: "VGPRs",
  spilled: "Spilled VGPRs",
  workgroupBytes: "LDS size",
  occupancy: "Subgroups per SIMD",
  instructions: "Instructions",
} as const;

/**
 * The kernels in the output of a program, in order. Errors: SyntaxError if their code is missing.
 */
export function parseKernels(text: string): KernelCode[] {
  return text.split(`\n${MARK} {`).slice(1).map((section) => {
    const end = section.indexOf(`\n${MARK} \n`);
    const [head, ...lines] = section.slice(0, end < 0 ? undefined : end).split("\n");
    return describe(JSON.parse(`{${head}`), lines);
  });
}

function describe(mark: KernelMark, lines: readonly string[]): KernelCode {
  const statistics = Object.fromEntries(
    Object.entries(STATISTICS).map(([key, label]) => {
      const line = lines.find((line) => line.startsWith(`${label}: `));
      if (!line) throw new SyntaxError(`Cannot read the code of ${mark.name}: no "${label}"`);
      return [key, Number(line.slice(label.length + 2))];
    }),
  ) as Record<keyof typeof STATISTICS, number>;
  const blocks = blocksOf(lines);
  const loops = loopsOf(blocks).filter((loop) => mostLoads(loop) > 0);
  const isProduct = mark.groups !== undefined;
  const { products = 1 } = mark;
  const all = loops.filter(isInnermost);
  // Each of several products may have another loop, which sums squares.
  const inOrder = products > 1 ? all.toSorted((a, b) => count(b) - count(a)) : all;
  const innermost = inOrder.slice(0, isProduct ? products : undefined);
  const loopInstructions = Math.max(0, ...innermost.map(count));
  const loading = isProduct && innermost.length > 0 ? innermost : loops;
  const loads = (loading.length > 0 ? loading : [blocks]).map(mostLoads);
  const loadsInFlight = isProduct ? Math.min(...loads) : Math.max(...loads);
  const matrixProducts = blocks.flatMap(({ instructions }) => instructions)
    .filter((instruction) => /^v_s?wmma_/.test(instruction)).length;
  const perGroup = mark.groups === undefined ? {} : { perGroup: loopInstructions / mark.groups };
  return { ...mark, ...statistics, loopInstructions, loadsInFlight, matrixProducts, ...perGroup };
}

/** The line before the machine code. The compiler's intermediate forms come earlier. */
const CODE = "disasm:";

/** The end of a line of machine code: the words of the instruction, in hexadecimal. */
const WORDS = /\s*; [0-9a-f]{8}( [0-9a-f]{8})*$/;

/** If Mesa has no disassembler for a GPU, it prints its own form, in which results come first. */
const RESULTS = /^ .*? = (?=[a-z])/;

function blocksOf(lines: readonly string[]): Block[] {
  const blocks: Block[] = [];
  for (const line of lines.slice(lines.indexOf(CODE) + 1)) {
    if (line.startsWith("***")) break;
    const name = /^(BB\d+):?$/.exec(line)?.[1];
    if (name) blocks.push({ name, instructions: [] });
    else if (line.startsWith("\t")) {
      const instruction = line.slice(1).replace(RESULTS, "").replace(WORDS, "");
      blocks.at(-1)?.instructions.push(instruction);
    }
  }
  return blocks;
}

/** Sequences of blocks that jump back to their first. */
function loopsOf(blocks: readonly Block[]): Block[][] {
  const places = new Map(blocks.map(({ name }, i) => [name, i]));
  return blocks.flatMap(({ instructions }, last) =>
    instructions.flatMap((instruction) => {
      const target = /^s_c?branch\w* (?:block:)?(BB\d+)/.exec(instruction)?.[1];
      const first = target === undefined ? Infinity : places.get(target) ?? Infinity;
      return first <= last ? [blocks.slice(first, last + 1)] : [];
    })
  );
}

function isInnermost(loop: readonly Block[], _: number, loops: readonly (readonly Block[])[]) {
  const holds = (other: readonly Block[]) =>
    other.length < loop.length && other.every((block) => loop.includes(block));
  return !loops.some(holds);
}

/** Instructions that do something. Others are hints to the scheduler. */
function count(blocks: readonly Block[]): number {
  return blocks.flatMap(({ instructions }) => instructions)
    .filter((instruction) => !/^s_(delay_alu|clause|nop|code_end)/.test(instruction)).length;
}

/** Most vector loads that have begun and are not waited for yet, in the order of the code. */
function mostLoads(blocks: readonly Block[]): number {
  let [underWay, most] = [0, 0];
  for (const instruction of blocks.flatMap(({ instructions }) => instructions)) {
    if (/^(buffer|global|flat)_load_/.test(instruction)) most = Math.max(most, ++underWay);
    const left = /^s_wait_loadcnt (?:imm:)?(0x[0-9a-f]+|\d+)/.exec(instruction)?.[1] ??
      /^s_wait.*\b(?:vmcnt|loadcnt)\((\d+)\)/.exec(instruction)?.[1];
    if (left !== undefined) underWay = Math.min(underWay, Number(left));
  }
  return most;
}
