// How a schema is read, where JSON Schema leaves it open. Says nothing of how documents are written.

/** How a schema is read. */
export interface SchemaOptions {
  /**
   * Whether `format` binds: all formats that are known, which is the default; "standard", those of JSON
   * Schema, but not those that only OpenAPI and ajv-formats have; or none.
   */
  readonly formats?: boolean | "standard";
  /**
   * Whether objects may have keys that nothing is said of, as JSON Schema has it, which is the default;
   * or only where the schema declares none, which is what those mean who fill schemas in.
   */
  readonly openObjects?: boolean;
}
