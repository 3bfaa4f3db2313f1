// Validates the settings of a call, one message per field, and parses their numbers.
import type { Separators } from '../../i18n/format.ts'
import type { Words } from '../../i18n/i18n.ts'
import { readCount, readNumber } from '../../i18n/typed-numbers.ts'

/** As typed; an empty setting is not sent. */
export type PlaygroundSettings = {
  readonly system: string
  readonly maxTokens: string
  readonly temperature: string
}

export type SettingsProblems = { readonly maxTokens?: string; readonly temperature?: string }

const TEMPERATURE_MAX = 2

export function settingsProblems(
  { maxTokens, temperature }: PlaygroundSettings,
  { t, format }: Pick<Words, 't' | 'format'>,
): SettingsProblems {
  const { separators } = format
  const isCount = maxTokens.trim() === '' || readCount(maxTokens, separators) !== undefined
  const isDegree =
    temperature.trim() === '' || readTemperature(temperature, separators) !== undefined
  return {
    ...(isCount ? {} : { maxTokens: t('playground.maxTokensProblem') }),
    ...(isDegree ? {} : { temperature: t('playground.temperatureProblem') }),
  }
}

export function readTemperature(typed: string, separators: Separators): number | undefined {
  const number = Number(readNumber(typed, separators) ?? Number.NaN)
  return number <= TEMPERATURE_MAX ? number : undefined
}
