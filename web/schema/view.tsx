// To come.

/** To come. */
export function SchemaView() {
  return <p>SchemaView</p>;
}
