// Pieces of bytes put together. Not by a Blob: its memory lies outside of the heap, where the collector
// does not see it grow, and is given back by finalizers long after nobody uses it.

export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
