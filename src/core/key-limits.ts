// How long the texts of a key may be, how many of a thing it may have and how short its answers may get: for the code
// that refuses, and for the forms that say so beforehand.
import { DAY_MS } from './durations.ts'

/** Of what lists are sorted by and searched for, too: an index of PostgreSQL takes at most 2,704 bytes of a row. */
export const NAME_LENGTH_MAX = 200
export const TEXT_LENGTH_MAX = 2_000
export const MODELS_MAX = 1_000
export const TAGS_MAX = 50
export const RATE_MAX = 1_000_000_000
export const OVERLAP_MS_MAX = 7 * DAY_MS
/** In tokens: an answer shorter than this is not worth having; thinking models need room to think first. */
export const OUTPUT_MINIMUM = 256
export const OUTPUT_MINIMUM_THINKING = 4_096
