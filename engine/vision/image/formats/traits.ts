// What the decoder has to be told of a file, and what of it a format's file has to find out.

/** What a file says of itself that its decoder does not heed. */
export interface Traits {
  /** How to turn the decoded picture, from 1 (not at all) to 8, as EXIF counts. */
  readonly orientation: number;
  /** Whether it has 16 bits per colour. */
  readonly isDeep: boolean;
}

/** Of formats whose decoder heeds everything. */
export const PLAIN: Traits = { orientation: 1, isDeep: false };
