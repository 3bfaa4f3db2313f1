// What the forms of a budget share about its period: the time zones to choose from, and the next reset in words.
import { periodAt } from '../../../src/core/periods.ts'
import type { Period, WeekStart } from '../../../src/core/periods.ts'
import { useNow } from '../i18n/use-now.ts'
import { useWords } from '../i18n/use-words.ts'

export const timezones = [
  'UTC',
  ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC'),
]

type Rule = {
  readonly period: Period
  readonly timezone: string
  readonly week_start: WeekStart
}

/** Computed by the gateway's own rule, so it says what will happen. */
export function useNextReset({ period, timezone, week_start: weekStart }: Rule): string {
  const { t, format } = useWords()
  const { endsAt } = periodAt({ period, timezone, weekStart }, useNow())
  if (endsAt === null) return t('keyForm.hint.neverResets')
  const moment = format.reset(new Date(endsAt).toISOString(), timezone)
  return t('keyForm.hint.resets', { moment })
}
