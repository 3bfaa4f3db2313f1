// How much of a budget is spent and held: a meter with the same numbers in words.
import { useFormat } from '../i18n/use-format.ts'
import { useTranslation } from '../i18n/use-translation.ts'
import { Meter } from './meter.tsx'

type BudgetMeterProps = {
  readonly label: string
  readonly spent: string
  readonly held: string
  readonly limit: string
  readonly height?: number
  readonly ticks?: readonly number[]
}

/** Where the meter of the frame has its marks. */
export const frameTicks = [0.5, 0.8]

export function BudgetMeter({ label, spent, held, limit, height, ticks }: BudgetMeterProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const valueText = t('budget.valueText', {
    spent: format.money(spent),
    held: format.money(held),
    limit: format.money(limit),
    percent: format.percent(shareOf(spent, limit)),
  })
  return (
    <Meter
      label={label}
      valueText={valueText}
      max={Number(limit)}
      segments={[
        { kind: 'spent', value: Number(spent) },
        { kind: 'held', value: Number(held) },
      ]}
      height={height}
      ticks={ticks}
    />
  )
}

/** A share of a budget, from 0 to 1 and above; an empty budget counts as fully spent. */
export function shareOf(amount: string, limit: string): number {
  return Number(limit) === 0 ? 1 : Number(amount) / Number(limit)
}
