// A part of linear.wgsl: the loop over the columns of weights that are stored as floats.
  // Lanes read neighbouring quads, QUADS at a time; what is left at the end of a row one at a time.
  let quads = 8u * groups;
  #if WHOLE_TURNS
  for (var quad = 0u; quad < quads; quad += QUADS) {
  #else
  var quad = lane;
  for (; quad + (QUADS - 1u) * LANES < quads; quad += QUADS * LANES) {
  #end
    #if !SOFTWARE
    #for j in 0..QUADS
    #for s in 0..SIDES
    #for r in 0..ROWS
    let w$s_$r_$j = fetch_floats(8u * from_row$s_$r + quad + $j * LANES);
    #end
    #end
    #end
    #end
    #for j in 0..QUADS
    #for c in 0..COLS
    let x$c_$j = x[from$c + quad + $j * LANES];
    #end
    #for s in 0..SIDES
    #for r in 0..ROWS
    #if SOFTWARE
    let w$s_$r_$j = fetch_floats(8u * from_row$s_$r + quad + $j * LANES);
    #end
    #for c in 0..COLS
    sum$s_$r_$c = add_products(sum$s_$r_$c, unpack_floats(w$s_$r_$j), x$c_$j);
    #end
    #end
    #end
    #end
  }
  #if !WHOLE_TURNS
  for (; quad < quads; quad += LANES) {
    #for c in 0..COLS
    let x$c = x[from$c + quad];
    #end
    #for s in 0..SIDES
    #for r in 0..ROWS
    let w$s_$r = load_floats(8u * from_row$s_$r + quad);
    #for c in 0..COLS
    sum$s_$r_$c = add_products(sum$s_$r_$c, w$s_$r, x$c);
    #end
    #end
    #end
  }
  #end
