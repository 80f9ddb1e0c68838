// Which keys a query attends to ("sees"): those up to itself (CAUSAL) or up to the end of the step,
// and of these only the ones in its window, `params.window` positions wide (SLIDING, CHUNKED or
// SYMMETRIC). Keys that no row of a query tile sees are not read. With BIDIRECTIONAL_IMAGES the rows
// of a tile within an image see all keys up to the image's end, `image_end`, which is 0 elsewhere.

// First position that the query at `position` sees.
fn first_seen(position: u32) -> u32 {
  #if SLIDING
  return position + 1u - min(position + 1u, params.window);
  #end
  #if CHUNKED
  return position / params.window * params.window;
  #end
  #if SYMMETRIC
  return position - min(position, params.window / 2u);
  #end
  #if !WINDOWED
  return 0u;
  #end
}

// One past the last position that the query at `position` sees, of a sequence that ends at `end`.
fn after_seen(position: u32, end: u32, image_end: u32) -> u32 {
  #if CAUSAL
  #if BIDIRECTIONAL_IMAGES
  return max(position + 1u, image_end);
  #else
  return position + 1u;
  #end
  #end
  #if !CAUSAL
  #if SYMMETRIC
  return min(end, position + params.window / 2u + 1u);
  #else
  return end;
  #end
  #end
}

// First position, and one past the last, that rows of a tile see. Its splits begin at the first.
fn seen_by_tile(tile: QueryTile, first_position: u32) -> vec2<u32> {
  let last = first_position + tile.rows - 1u;
  let end = select(tile.end, last + 1u, tile.end == 0u);
  return vec2(first_seen(first_position), after_seen(last, end, tile.image_end));
}
