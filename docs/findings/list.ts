// All findings by name.

import { find as attentionSinks } from "./attention_sinks.ts";
import { find as copyingHeads } from "./copying_heads.ts";
import type { Find } from "./finding.ts";
import { find as logitLens } from "./logit_lens.ts";
import { find as mask } from "./mask.ts";
import { find as patching } from "./patching.ts";
import { find as probe } from "./probe.ts";
import { find as quantization } from "./quantization.ts";
import { find as speculation } from "./speculation.ts";
import { find as steering } from "./steering.ts";
import { find as tokenizers } from "./tokenizers.ts";

/** In the order of docs/findings.md. */
export const FINDINGS: Readonly<Record<string, Find>> = {
  logit_lens: logitLens,
  patching,
  copying_heads: copyingHeads,
  steering,
  mask,
  tokenizers,
  speculation,
  attention_sinks: attentionSinks,
  probe,
  quantization,
};
