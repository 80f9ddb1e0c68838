// The parts of a model that are proved beside it: what drafts for it, and its encoder of images.

import type { GgufFile } from "../gguf/mod.ts";
import type { Proof } from "./judgement.ts";

/** A part of a model. */
export interface ProvedPart {
  /** What it is, before its faults; missing for the model itself. */
  readonly name?: string;
  /** The file with its weights. */
  readonly file: GgufFile;
  prove(): Promise<Proof>;
}

/** Proves a device by all parts of a model, one after the other. Errors: those of their proofs. */
export async function proveParts(parts: readonly ProvedPart[]): Promise<Proof> {
  const proofs: Proof[] = [];
  for (const { name, prove } of parts) {
    const proof = await prove();
    const nameOf = (what: string) => name === undefined ? what : `${name}: ${what}`;
    proofs.push({
      ...proof,
      faults: proof.faults.map(({ what, how }) => ({ what: nameOf(what), how })),
    });
  }
  const sum = (of: (proof: Proof) => number) => proofs.reduce((all, proof) => all + of(proof), 0);
  const most = (of: (proof: Proof) => number) => Math.max(...proofs.map(of));
  return {
    compared: sum(({ compared }) => compared),
    worst: {
      error: most(({ worst }) => worst.error),
      greatest: most(({ worst }) => worst.greatest),
    },
    faults: proofs.flatMap(({ faults }) => faults),
    milliseconds: sum(({ milliseconds }) => milliseconds),
  };
}
