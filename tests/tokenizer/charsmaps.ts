// Writes small tables of normalization as SentencePiece compiles them: a double array over the bytes
// of what is replaced, then the replacements. Wasteful: every node has 256 units of its own.

interface Node {
  readonly next: Map<number, Node>;
  replacement?: string;
}

const encoder = new TextEncoder();
const BLOCK = 256;

/** The bytes of `tokenizer.ggml.precompiled_charsmap` for these replacements. */
export function charsmap(replacements: Readonly<Record<string, string>>): Uint8Array {
  const root: Node = { next: new Map() };
  for (const [text, replacement] of Object.entries(replacements)) {
    let node = root;
    for (const byte of encoder.encode(text)) {
      if (!node.next.has(byte)) node.next.set(byte, { next: new Map() });
      node = node.next.get(byte)!;
    }
    node.replacement = replacement;
  }
  const units: number[] = [];
  const strings: number[] = [];
  // Block 0 holds the root alone.
  let blocks = 1;
  const place = (node: Node, index: number) => {
    const block = BLOCK * blocks++;
    units[index] = (units[index] ?? 0) | packOffset(index ^ block);
    if (node.replacement !== undefined) {
      units[index] |= 1 << 8;
      units[block] = 1 << 31 | strings.length;
      strings.push(...encoder.encode(node.replacement), 0);
    }
    for (const [byte, child] of node.next) {
      units[block + byte] = byte;
      place(child, block + byte);
    }
  };
  place(root, 0);
  const table = new Uint8Array(4 + 4 * BLOCK * blocks + strings.length);
  const view = new DataView(table.buffer);
  view.setUint32(0, 4 * BLOCK * blocks, true);
  for (const [index, unit] of units.entries()) view.setUint32(4 + 4 * index, unit ?? 0, true);
  table.set(strings, 4 + 4 * BLOCK * blocks);
  return table;
}

/** Offsets are stored as they are, or without their low byte where it is zero. */
function packOffset(offset: number): number {
  return offset % BLOCK === 0 ? (offset / BLOCK) << 10 | 1 << 9 : offset << 10;
}
