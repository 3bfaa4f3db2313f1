// A key's rate limits in a few words; undefined if it has none.
import { useFormat } from '../../i18n/use-format.ts'
import { useTranslation } from '../../i18n/use-translation.ts'

type Rates = {
  readonly rpm: number | null
  readonly tpm: number | null
  readonly concurrency: number | null
}

export function useRateWords(): (rates: Rates) => string | undefined {
  const { t } = useTranslation()
  const format = useFormat()
  return (rates) => {
    const words = (['rpm', 'tpm', 'concurrency'] as const).flatMap((name) => {
      const value = rates[name]
      return value === null ? [] : [t(`rates.${name}`, { value: format.compact(value) })]
    })
    return words.length === 0 ? undefined : words.join(' · ')
  }
}
