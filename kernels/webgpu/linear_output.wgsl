// A part of linear.wgsl: the first invocation of a team scales, biases, gates and adds its sums, and
// writes them; a workgroup writes int8 groups, or the sums of squares of a norm.
  if (lane == 0u) {
    #if DEFERRED_NORM
    #for c in 0..COLS
    #if SHARED
    squares$c = square_partials[$c * PARTS];
    #end
    let scale$c = deferred_scale(squares$c);
    #end
    #end
    #for s in 0..SIDES
    #for r in 0..ROWS
    #if AFFINE
    let affine$s_$r = affine_of(weight_row(expert, $s, first_row + $r));
    #end
    #for c in 0..COLS
    #if SHARED
    sum$s_$r_$c = partials[(($s * ROWS + $r) * COLS + $c) * PLACES + first_part];
    #end
    #if DEFERRED_NORM
    sum$s_$r_$c *= scale$c;
    #end
    #if AFFINE
    sum$s_$r_$c = sum$s_$r_$c * affine$s_$r.x + affine$s_$r.y;
    #end
    #end
    #end
    #end
    // All that is added to is read before any of it is written: a GPU that has written waits before it
    // reads on.
    #if FLOAT_NORM
    // Rows are whole groups of 32, so that a team has all of its rows or none.
    if (first_row < params.rows) {
      let column = params.first + first_row;
      #for r in 0..ROWS
      let weight$r = norm_weight[column + $r];
      #for c in 0..COLS
      let y$r_$c = y[token$c * params.stride + column + $r] + sum0_$r_$c;
      #end
      #end
      #for c in 0..COLS
      var own_squares$c = 0.0;
      #for r in 0..ROWS
      own_squares$c += y$r_$c * y$r_$c;
      #end
      team_squares[$c * TEAMS + team] = own_squares$c;
      #for r in 0..ROWS
      y[token$c * params.stride + column + $r] = y$r_$c;
      normed[token$c * params.stride + column + $r] = y$r_$c * weight$r;
      #end
      #end
    }
    #else
    #if ACCUMULATE
    #for r in 0..ROWS
    #for c in 0..COLS
    let before$r_$c = y[token$c * params.stride + params.first + first_row + $r];
    #end
    #end
    #end
    #for r in 0..ROWS
    #for c in 0..COLS
    #if PAIRED
    sum0_$r_$c = gate(sum0_$r_$c, sum1_$r_$c);
    #end
    #if ACCUMULATE
    sum0_$r_$c += before$r_$c;
    #end
    #if QUANTIZED_OUTPUT
    results[$c * OUTPUTS + team * ROWS + $r] = select(0.0, sum0_$r_$c, first_row + $r < params.rows);
    #end
    #if FLOAT_OUTPUT
    if (first_row + $r < params.rows && token$c != NONE) {
      let at = token$c * params.stride + params.first + first_row + $r;
      y[at] = sum0_$r_$c;
    }
    #end
    #end
    #end
    #end
  }

  #if QUANTIZED_OUTPUT
  workgroupBarrier();
  write_groups(token_tile, tile, thread);
  #end
  #if FLOAT_NORM
  workgroupBarrier();
  for (var group = thread; group < COLS * OUTPUTS / 32u; group += WORKGROUP) {
    let output = tile * OUTPUTS + group * 32u % OUTPUTS;
    var squares = 0.0;
    #for j in 0..GROUP_TEAMS
    squares += team_squares[group * GROUP_TEAMS + $j];
    #end
    if (output < params.rows) {
      let token = token_of(token_tile, group * 32u / OUTPUTS);
      let square_quads = (params.stride + 127u) / 128u;
      let at = params.normed_squares + token * 4u * square_quads;
      normed[at + (params.first + output) / 32u] = squares;
    }
  }
  #end
