// The sums of a time span at a glance, each compared with the span before.
import type { UsageAnswer } from '../../../src/admin/contract/usage.ts'
import { useFormat } from '../i18n/use-format.ts'
import { useTranslation } from '../i18n/use-translation.ts'
import { Change } from './change.tsx'
import styles from './figures.module.css'

const shown = ['cost', 'requests', 'errors', 'input_tokens', 'output_tokens'] as const

export function Sums({ total, previous }: Pick<UsageAnswer, 'total' | 'previous'>) {
  const { t } = useTranslation()
  const format = useFormat()
  const wordOf = (metric: (typeof shown)[number], sums: UsageAnswer['total']): string => {
    if (metric === 'cost') return format.money(sums.cost)
    return metric.endsWith('_tokens') ? format.compact(sums[metric]) : format.number(sums[metric])
  }
  const share = total.requests === 0 ? 0 : total.errors / total.requests
  return (
    <dl className={styles['sums']}>
      {shown.map((metric) => (
        <div key={metric} className="card">
          <dt>{t(`metric.${metric}`)}</dt>
          <dd>
            {wordOf(metric, total)} {metric === 'errors' && <small>{format.percent(share)}</small>}
          </dd>
          {previous && (
            <dd className={styles['before']}>
              {t('usage.beforeValue', { value: wordOf(metric, previous.total) })} ·{' '}
              <Change before={Number(previous.total[metric])} now={Number(total[metric])} />
            </dd>
          )}
        </div>
      ))}
    </dl>
  )
}
