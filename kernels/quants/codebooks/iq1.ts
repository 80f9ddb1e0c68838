// The codebook of IQ1_S and IQ1_M: 2,048 of the 6,561 vectors of eight values -1, 0 and 1. The
// choice, trained on weights of models, is that of iq1s_grid in ggml-common.h. vectors.ts explains
// the encoding.

import type { Codebook } from "../format.ts";
import { codebookVectors } from "./vectors.ts";

const MEMBERS = `
VSUUhaACQlEIRTGohiCKohoIKiAUhVAUgiBERSUVBaACgiCIGAAIgqADKqCIu6oKkKoLACIACqqMgqAIQFEIRSGIgFAUQlEI
ijAImKAIgCoIRSEUhSBIQlUIRQEswqAgiiYAKiSoqqII4q8ICCgoAKACQiiqKCCogCAKmwi5uqggyq6Joq6qOnzr6rq7gg64
IrrK0w6SAiIAIiCoiroKggIIACpK4KI7IiArogCBQIGqiigIIgEUhVAVgiAJRSFUhaAIAiOoOiCEgiBUQlEIoiAIlVAUAioI
uKiCgKBIAiAIgqJoogIoqyoIhSAIgjAIRUAARSEUhaAAQlEARQEpggCKgioIoTAUBVAUgigIRSEUhSACAiCqKgAgErGKriio
uqGqqHAAggoIAigiAoQAggBIgKDqsCqqwiCLuiLq2qeLi26okrAqqnKLikQMKiBIhEAoiioIqiDIzKIioq+aoOioAgACACqo
iAAggKCLoqIouqCAgjIKur64uv7roqArogiKCijqogChMgIM+qTq3u8rqC6Nvn7r+vd/v+Z9ut5p+yf/vyb6EunhiiIQqr4O
hKoIsqgLgq7/uiTpg4AEYixo8qgKpCsAAioICOKqEgACgioKpiDJgomQgigAogCMgBMAgggIAGyKqqq7Aqa+iqDKAoBrly7Q
sukQghAuqt4oFdGlBAAKggCKgiAIAaEggqo5uiIyhKAJgBgAiqJiAoEURFEARSGsglAUQlEIqiAoqocKEioIRSEUBaAIQlEI
RQEgAqBAoiIAiAAIoghqim64qqqAACAKguLIIiEIRFAUQlEJiiAVhVAUhgoIqioqgAAKQlEIRSGoAFAUQlEI4iCIggoYgioI
qqKqirCLAgoqqiAogoCqCigIKACpiAIioL4LKLgIirpLsq7/uqT4rqogUihotqAw5oAKAigIImpigCAKAqqqK6rqoqmgoggI
ECCgiiIAgg4ARSEUhaAKQFEIRSGpBgBKqgIIpQAQDUQUgigIRSEUBQAIgoKs8iAAAACqCigKuiDqogIAgkgJKOkUABFLRVEA
RQGoAlAUQlEIiCQIiCgKQAgARQEUBaACQFEIRQE=`;

/** The vectors of IQ1_S and IQ1_M, eight components each. */
export const iq1Vectors = codebookVectors(MEMBERS, [-1, 0, 1], 8);

/**
 * A word per vector: component j plus one is in the low nibble of byte j, component j + 4 plus one
 * in the high nibble.
 */
export const iq1Codebook: Codebook = {
  type: "u32",
  words: Uint32Array.from({ length: iq1Vectors.length / 8 }, (_, index) => {
    const nibbles = iq1Vectors.subarray(8 * index, 8 * index + 8);
    return nibbles.reduce((word, value, j) => word | (value + 1) << 8 * (j % 4) + (j & 4), 0);
  }),
};
