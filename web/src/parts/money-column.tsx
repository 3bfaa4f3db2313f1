// A column of amounts with their decimal points one below the other, though each amount shows only the digits it needs.
import type { ReactNode } from 'react'
import { useFormat } from '../i18n/use-format.ts'
import styles from './money-column.module.css'

type Amount = string | null | undefined

/** Draws the amounts of one column, of which `amounts` are all, the total included. No amount is a dash. */
export function useMoneyColumn(amounts: readonly Amount[] = []): (amount: Amount) => ReactNode {
  const { money, separators } = useFormat()
  const decimalsIn = (text: string): number =>
    (text.split(separators.decimal)[1] ?? '').replace(/\D+$/, '').length
  const most = Math.max(...amounts.map((amount) => (amount ? decimalsIn(money(amount)) : 0)))
  return (amount) => {
    if (!amount) return '–'
    const text = money(amount)
    return (
      <span className={styles['amount']} data-missing={''.padEnd(most - decimalsIn(text), '0')}>
        {text}
      </span>
    )
  }
}
