// What is spent and held of one budget: a meter whose words carry the same numbers.
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

/** A part of a budget, from 0 to 1 and above; of nothing, everything is spent. */
export function shareOf(amount: string, limit: string): number {
  return Number(limit) === 0 ? 1 : Number(amount) / Number(limit)
}
