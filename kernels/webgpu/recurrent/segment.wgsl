// The rows of one sequence in a step: consecutive rows that a recurrence walks in order, and where
// its state is kept. A sequence that begins at position 0 begins with a state of zero.
// Small inputs of these kernels are uniform buffers: not every device has more than eight for storage.
@group(0) @binding(1) var<storage, read> rows: array<vec4<u32>>;          // [rows] token, position, slot
@group(0) @binding(2) var<uniform> segments: array<vec4<u32>, SEGMENTS>;  // first row, rows

struct Segment {
  first: u32,
  count: u32,
  slot: u32,
  fresh: bool,  // the state counts as zero
}

fn segment_at(index: u32) -> Segment {
  let segment = segments[index];
  let row = rows[segment.x];
  return Segment(segment.x, segment.y, row.z, row.y == 0u);
}
