// The values that requests and answers are made of: money, moments, periods, texts, ids.
import { z } from 'zod'
import { GROUP_ID_SHAPE, KEY_ID_SHAPE, TEXT_LENGTH_MAX } from '../../core/limits.ts'
import { PERIODS, WEEK_STARTS } from '../../core/periods.ts'
import { label } from '../../core/text.ts'
import { momentOf } from '../../core/units.ts'

/** USD as a decimal string with at most 9 places: money is never a float. */
export const amount = z
  .string()
  .regex(/^\d{1,16}(\.\d{1,9})?$/, 'enter an amount in USD with at most 9 decimals, such as 12.50')
  .meta({ description: 'USD, decimal, at most 9 places', examples: ['12.5'] })

export const moment = z.iso.datetime().meta({ description: 'ISO 8601, UTC' })

/** A moment as a caller may write it: with any offset. */
export const anyMoment = z.iso
  .datetime({ offset: true, error: 'enter a date and time such as 2027-01-31T00:00:00Z' })
  .refine((text) => momentOf(text) !== undefined, 'enter a time from 1970 to 9999')

/** The time that a list or a report covers, read into milliseconds since 1970. */
export const range = {
  since: anyMoment.transform((text) => Date.parse(text)).optional(),
  /** Default: now. */
  until: anyMoment.transform((text) => Date.parse(text)).optional(),
}

/** PostgreSQL cannot store NUL, and dropping it silently would change the text. */
export const withoutNul = <Text extends z.ZodType<string>>(text: Text) =>
  text.refine(
    (given) => !given.includes('\0'),
    'this contains a NUL character, which cannot be stored: remove it',
  )

/** The longest e-mail address that the standards allow. */
export const EMAIL_LENGTH_MAX = 254

/** For texts that filter a list: names are shorter, and e-mail addresses at most this long. */
export const FILTER_LENGTH_MAX = EMAIL_LENGTH_MAX
/** How many values of one kind a filter may name. */
export const FILTER_VALUES_MAX = 20

/** The name of a person, a role or a token. */
export const givenName = (lengthMax: number, missing = 'enter a name') =>
  withoutNul(z.string()).overwrite(label).min(1, missing).max(lengthMax)

export const storable = (lengthMax: number) => withoutNul(z.string().max(lengthMax))

export const period = z.enum(PERIODS)
export const weekStart = z.enum(WEEK_STARTS)

export const reason = z
  .string()
  .min(1, 'a reason is needed: say why in a few words')
  .max(TEXT_LENGTH_MAX)

/** A number in a query string. */
export const count = (least: number, most: number) => z.coerce.number().int().min(least).max(most)

/** Of a list that is read page by page. */
export const page = {
  /** The `next` of the previous page. */
  before: z.string().optional(),
  limit: count(1, 200).default(50),
}

export const keyId = z.string().regex(KEY_ID_SHAPE, 'this is not the id of a key')
export const groupId = z.string().regex(GROUP_ID_SHAPE, 'this is not the id of a group')

/** An amount and the period it is for. */
export const amountForPeriod = z.strictObject({ budget: amount, period })
export type AmountForPeriod = Readonly<z.output<typeof amountForPeriod>>

/** A budget beside the main one: a second window, or a cap for a model. */
export const furtherBudget = z.object({
  budget: amount,
  /** With what was added until the period ends. */
  limit: amount,
  period,
  starts_at: moment,
  spent: amount,
  held: amount,
  remaining: amount,
  resets_at: moment.nullable(),
})

export type FurtherBudget = z.output<typeof furtherBudget>

/** Which budget is meant. */
const onBudget = {
  /** The second window, in place of the main budget. */
  window: z.boolean().optional(),
}

export const topUp = z.strictObject({ amount, reason, ...onBudget })
export const spendReset = z.strictObject({ reason, ...onBudget })

/** The balance of one scope, key or frame, never mixed. */
export const balance = z.object({
  /** Null: no limit of its own. */
  limit: amount.nullable(),
  spent: amount,
  held: amount,
  remaining: amount.nullable(),
  resets_at: moment.nullable(),
})

/** Closed periods of a budget, newest first. */
export const pastPeriods = z.array(
  z.object({ starts_at: moment, ends_at: moment, limit: amount.nullable(), spent: amount }),
)
export type PastPeriods = Readonly<z.output<typeof pastPeriods>>

export const done = z.object({ done: z.literal(true) })
