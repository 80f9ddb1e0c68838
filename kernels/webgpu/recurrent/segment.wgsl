// A segment: the consecutive rows of one sequence in a step, which a recurrence goes through in order,
// and the row of its state. The state of a sequence that begins at position 0 counts as zero. Small
// inputs of these kernels are uniform buffers, because some devices have only eight storage buffers.

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
