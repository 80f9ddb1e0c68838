// The section about memory: how much there is for models, what of it a server has in use, and which
// sizes of models fit.

import { formatSize, type MemoryBudget } from "../../../engine/mod.ts";
import type { OllamaProcess } from "../client/mod.ts";
import type { Finding, Section } from "./types.ts";

/** @param loaded models that a server on this machine has in memory */
export function examineMemory(budget: MemoryBudget, loaded: readonly OllamaProcess[]): Section {
  const rows = tableOfSizes(budget.total);
  const fitsAny = rows.some(({ types }) => types.Q4_K_M.fits);
  const used = loaded.reduce((sum, { size }) => sum + size, 0);
  const room: Finding = {
    mark: fitsAny ? "ok" : "warning",
    subject: "for models",
    text: `${formatSize(budget.total)}: ${budget.source}`,
    ...(!fitsAny && {
      todo: {
        text: "There is hardly memory for a model: end programs that use it, or, if there is " +
          "more than was found, say so in QUERN_GPU_MEMORY.",
        command: "QUERN_GPU_MEMORY=8GiB quern serve",
      },
    }),
  };
  const findings = [room];
  if (budget.system) {
    const text = `${formatSize(budget.system.total)}: ${budget.system.source}; layers that the ` +
      "GPU has no room for are computed there";
    findings.push({ mark: "ok", subject: "on the CPU", text });
  }
  if (loaded.length > 0) {
    const names = loaded.map(({ name }) => name).join(", ");
    const text = `${formatSize(used)} by the server: ${names}; \`quern stop MODEL\` frees it`;
    findings.push({ mark: "ok", subject: "in use", text });
  }
  findings.push({
    mark: "ok",
    subject: "what fits",
    text: `as models of these sizes are on average, with a window of ${WINDOW} tokens`,
  });
  const models = loaded.map(({ name, size }) => ({ name, bytes: size }));
  return {
    title: "Memory",
    findings,
    facts: { budget, used, models, window: WINDOW, sizes: rows },
    table: [["MODEL", "Q4_K_M", "Q8_0"], ...rows.map(cellsOf)],
  };
}

function cellsOf({ name, types: { Q4_K_M, Q8_0 } }: SizeRow): string[] {
  const cell = ({ bytes, fits }: { bytes: number; fits: boolean }) =>
    `${formatSize(bytes)} ${fits ? "fits" : "too large"}`;
  return [name, cell(Q4_K_M), cell(Q8_0)];
}

// Roughly how much memory models of the usual sizes take, by the example of a popular model of each
// size. engine/memory computes from its file what a certain model takes.

interface ModelSize {
  name: string;
  weights: number;
  layers: number;
  /** Elements of the keys of a token in a layer; its values have as many. */
  keyWidth: number;
}

/** Llama 3.2 1B and 3B, Llama 3.1 8B, Qwen3 14B and 32B, Llama 3.3 70B. */
const SIZES: readonly ModelSize[] = [
  { name: "1B", weights: 1.24e9, layers: 16, keyWidth: 512 },
  { name: "3B", weights: 3.21e9, layers: 28, keyWidth: 1024 },
  { name: "8B", weights: 8.03e9, layers: 32, keyWidth: 1024 },
  { name: "14B", weights: 14.8e9, layers: 40, keyWidth: 1024 },
  { name: "32B", weights: 32.8e9, layers: 64, keyWidth: 1024 },
  { name: "70B", weights: 70.6e9, layers: 80, keyWidth: 1024 },
];

/** Of a file: Q4_K_M has its more important matrices in Q6_K. */
const BITS_PER_WEIGHT = { Q4_K_M: 4.85, Q8_0: 8.5 };

/** The KV cache is f16. */
const ELEMENT_BYTES = 2;

/** Activations and logits of a few parallel requests. */
const SCRATCH_BYTES = 256 * 2 ** 20;

/** Tokens of the window that the sizes are for. */
const WINDOW = 8192;

/** Types of weights that are counted. */
type WeightType = keyof typeof BITS_PER_WEIGHT;

/** One size of model in each type of weights. */
interface SizeRow {
  name: string;
  types: Record<WeightType, { bytes: number; fits: boolean }>;
}

/** The sizes that fit into a number of bytes, the smallest first. */
function tableOfSizes(budget: number): SizeRow[] {
  return SIZES.map((size) => {
    const entry = (type: WeightType) => {
      const bytes = bytesOf(size, type);
      return { bytes, fits: bytes <= budget };
    };
    return { name: size.name, types: { Q4_K_M: entry("Q4_K_M"), Q8_0: entry("Q8_0") } };
  });
}

function bytesOf({ weights, layers, keyWidth }: ModelSize, type: WeightType): number {
  const cache = 2 * layers * keyWidth * ELEMENT_BYTES * WINDOW;
  return weights * BITS_PER_WEIGHT[type] / 8 + cache + SCRATCH_BYTES;
}
