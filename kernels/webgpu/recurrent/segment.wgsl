// The rows of one sequence in a step: consecutive rows that a recurrence walks in order, and where
// its state is kept. A sequence that begins at position 0 begins with a state of zero.
// Small inputs of these kernels are uniform buffers: not every device has more than eight for storage.
@group(0) @binding(1) var<storage, read> rows: array<StepRow>;             // [rows]
@group(0) @binding(2) var<uniform> segments: array<StepSegment, SEGMENTS>;

struct Segment {
  first: u32,
  count: u32,
  slot: u32,
  fresh: bool,  // the state counts as zero
}

fn segment_at(index: u32) -> Segment {
  let segment = segments[index];
  let row = rows[segment.first_row];
  return Segment(segment.first_row, segment.rows, row.slot, row.position == 0u);
}
