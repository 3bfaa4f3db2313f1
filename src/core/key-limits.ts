// The limits of a key: its id, how long its texts may be, how many models and tags it may have, and how short its
// answers may get. For the code that refuses, and for the forms that say so beforehand.
import { DAY_MS } from './durations.ts'

export const KEY_ID_SHAPE = /^key_[0-9a-z]{26}$/
/** Also of other texts that lists sort or search by: an index of PostgreSQL takes at most 2,704 bytes of a row. */
export const NAME_LENGTH_MAX = 200
export const TEXT_LENGTH_MAX = 2_000
export const MODELS_MAX = 1_000
export const TAGS_MAX = 50
export const RATE_MAX = 1_000_000_000
/** How long an old secret works beside the new one, by default. */
export const OVERLAP_MS = DAY_MS
export const OVERLAP_MS_MAX = 7 * DAY_MS
/** In tokens: an answer shorter than this is not worth having; thinking models need room to think first. */
export const OUTPUT_MINIMUM = 256
export const OUTPUT_MINIMUM_THINKING = 4_096
