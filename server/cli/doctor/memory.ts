// The section about memory: how much there is for models, what of it a server has in use, and which
// sizes of models fit.

import { formatSize, type MemoryBudget } from "../../../engine/mod.ts";
import type { OllamaProcess } from "../client/mod.ts";
import { type SizeRow, tableOfSizes, WINDOW } from "./model_sizes.ts";
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
