// The formats of dates, times and durations as patterns (RFC 3339), with the days of each month,
// leap years and leap seconds.

/** Days of each month. Every fourth year is a leap year, except centuries that 400 does not divide. */
const LEAP_YEAR = "(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)";
const DATE = `(?:(?!0000)(?:\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])` +
  `|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))|${LEAP_YEAR}-02-29))`;
const SECOND_FRACTION = "(?:\\.\\d{1,20})?";
const HOUR_MINUTE = "(?:[01]\\d|2[0-3]):[0-5]\\d";
const OFFSET = `(?:[Zz]|[+\\-]${HOUR_MINUTE})`;
/** A time without an offset, for OpenAPI and schemars. */
const LOCAL_TIME = `${HOUR_MINUTE}:[0-5]\\d${SECOND_FRACTION}`;
/** A leap second is only allowed at the end of a day in UTC. */
const TIME = `(?:${HOUR_MINUTE}:[0-5]\\d${SECOND_FRACTION}${OFFSET}|${leapSecond()})`;
/** ISO 8601 as ajv-formats reads it: the offset may be shorter, or missing. */
const ISO_TIME = `(?:${TIME}|${HOUR_MINUTE}:[0-5]\\d${SECOND_FRACTION}` +
  `(?:[+\\-](?:[01]\\d|2[0-3])(?::?[0-5]\\d)?)?)`;
/** RFC 3339, appendix A: no unit between two others may be missing. */
const DURATION_DATE = "(?:\\d+Y(?:\\d+M(?:\\d+D)?)?|\\d+M(?:\\d+D)?|\\d+D)";
const DURATION_TIME = "T(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S)";
const DURATION = `P(?:${DURATION_DATE}(?:${DURATION_TIME})?|${DURATION_TIME}|\\d+W)`;

/**
 * The times of leap seconds: 23:59:60 plus the offset, if that is a multiple of a quarter of an
 * hour.
 */
function leapSecond(): string {
  const second = `60${SECOND_FRACTION}`;
  const two = (value: number) => String(value).padStart(2, "0");
  const everyHour = (make: (hour: number) => string) =>
    `(?:${Array.from({ length: 24 }, (_, hour) => make(hour)).join("|")})`;
  const quarters = (offsets: readonly number[], make: (minute: number) => string) =>
    `(?=\\d\\d:(?:${offsets.map(make).join("|")})$)`;
  return [
    `23:59:${second}[Zz]`,
    everyHour((hour) => `${two((hour + 23) % 24)}:59:${second}\\+${two(hour)}:00`),
    // East of UTC the local time is later, and the minutes of the offset may add an hour.
    quarters([15, 30, 45], (minute) => `${two(minute - 1)}:${second}\\+\\d\\d:${minute}`) +
    everyHour((hour) => `${two(hour)}:\\d\\d:${second}\\+${two(hour)}:\\d\\d`),
    quarters([0, 15, 30, 45], (minute) => `${two(59 - minute)}:${second}-\\d\\d:${two(minute)}`) +
    everyHour((hour) => `${two(23 - hour)}:\\d\\d:${second}-${two(hour)}:\\d\\d`),
  ].join("|");
}

/** Patterns by format. */
export const TIME_FORMATS: Readonly<Record<string, () => readonly string[]>> = {
  "date": () => [DATE],
  "time": () => [TIME],
  "date-time": () => [`${DATE}[Tt]${TIME}`],
  "date-time-local": () => [`${DATE}[Tt]${LOCAL_TIME}`],
  "partial-date-time": () => [`${DATE}[Tt]${LOCAL_TIME}`],
  "time-local": () => [LOCAL_TIME],
  "iso-time": () => [ISO_TIME],
  "iso-date-time": () => [`${DATE}[Tt ]${ISO_TIME}`],
  "duration": () => [DURATION],
};
