// Every budget that can stop a call, one bar each with its own numbers: what is spent, held and free of it, and where it is
// shared, whose part that is. Amounts of two budgets are never mixed.
import type { ReactNode } from 'react'
import type { FurtherBudget } from '../../../src/admin/contract/values.ts'
import { minus } from '../base/amounts.ts'
import { useTranslation } from '../i18n/i18n.ts'
import styles from './budget-bars.module.css'
import { Resets } from './budgets.tsx'
import { BudgetMeter, Meter, shareOf, toneOf } from './meters.tsx'

type BudgetBarsProps = { readonly label: string; readonly children: ReactNode }

export function BudgetBars({ label, children }: BudgetBarsProps) {
  return (
    <section className={`card ${styles['bars']}`} aria-label={label}>
      {children}
    </section>
  )
}

type Budget = {
  /** Null: no limit of its own. */
  readonly limit: string | null
  readonly spent: string
  readonly held: string
  readonly remaining: string | null
  /** What of the limit was added until the period ends. */
  readonly top_up?: string
}

type BudgetBarProps = {
  /** The name of the budget; `heading` may show it as a link. */
  readonly title: string
  readonly heading?: ReactNode
  readonly budget: Budget
  /** Of what is spent, the part of the key whose page this is. */
  readonly own?: string
  /** What to say where there is no limit. */
  readonly noLimit?: string
  /** Marks at these shares of the limit. */
  readonly ticks?: readonly number[]
  /** Further facts, as items of a list. */
  readonly children?: ReactNode
}

export function BudgetBar(props: BudgetBarProps) {
  const { title, heading = title, budget, noLimit, children } = props
  const { t, format } = useTranslation()
  const { spent, limit } = budget
  return (
    <div className={styles['bar']} data-tone={limit && toneOf(Number(spent), Number(limit))}>
      <div className={styles['head']}>
        <h2>{heading}</h2>
        <p className={styles['figure']}>
          <strong>{format.money(spent)}</strong>{' '}
          {limit !== null && (
            <span className="muted">
              {t('budget.ofLimit', {
                limit: format.money(limit),
                percent: format.percent(shareOf(spent, limit)),
              })}
            </span>
          )}
        </p>
      </div>
      {limit === null ? <p className="muted">{noLimit}</p> : <Parts {...props} limit={limit} />}
      {children && <ul className={styles['facts']}>{children}</ul>}
    </div>
  )
}

const heightPx = 14

function Parts({ title, budget, own, ticks, limit }: BudgetBarProps & { readonly limit: string }) {
  const { t, format } = useTranslation()
  const { spent, held, remaining, top_up: topUp = '0' } = budget
  const others = minus(spent, own ?? spent)
  const parts = [
    own === undefined
      ? { kind: 'spent', words: t('budget.part.spent', { amount: format.money(spent) }) }
      : { kind: 'spent', words: t('budget.part.own', { amount: format.money(own) }) },
    ...(own === undefined
      ? []
      : [{ kind: 'others', words: t('budget.part.others', { amount: format.money(others) }) }]),
    { kind: 'held', words: t('budget.part.held', { amount: format.money(held) }) },
    { kind: 'free', words: t('budget.part.free', { amount: format.moneyLeft(remaining ?? '0') }) },
  ]
  return (
    <>
      {own === undefined ? (
        <BudgetMeter
          label={title}
          budget={{ spent, held, limit }}
          height={heightPx}
          {...(ticks && { ticks })}
        />
      ) : (
        <Meter
          label={title}
          valueText={parts.map(({ words }) => words).join(', ')}
          max={Number(limit)}
          height={heightPx}
          {...(ticks && { ticks })}
          segments={[
            { kind: 'spent', value: Number(own) },
            { kind: 'others', value: Number(others) },
            { kind: 'held', value: Number(held) },
          ]}
        />
      )}
      <ul className={styles['facts']}>
        {parts.map(({ kind, words }) => (
          <li key={kind}>
            <span className={styles['dot']} data-kind={kind} />
            {words}
          </li>
        ))}
        {topUp !== '0' && <li>{t('budget.part.topUp', { amount: format.money(topUp) })}</li>}
      </ul>
    </>
  )
}

type FurtherBarProps = {
  readonly title: string
  readonly budget: FurtherBudget
  readonly timezone: string
}

/** A second window, or a cap for one model. */
export function FurtherBar({ title, budget, timezone }: FurtherBarProps) {
  const { t } = useTranslation()
  const period = t(`periodShort.${budget.period}`)
  const topUp = minus(budget.limit, budget.budget)
  return (
    <BudgetBar title={`${title} (${period})`} budget={{ ...budget, top_up: topUp }}>
      <Resets budget={{ resets_at: budget.resets_at, timezone }} />
    </BudgetBar>
  )
}
