// What cells of tables show: a state, a moment, a menu, amounts and prices.
import { ActionIcon, Menu, Tooltip } from '@mantine/core'
import { type ReactNode, useRef, useState } from 'react'
import type { ModelAnswer } from '../../../src/admin/contract/gateway.ts'
import { useNow } from '../i18n/format.ts'
import { useTranslation } from '../i18n/i18n.ts'
import styles from './cells.module.css'
import { MoreIcon, type Icon } from './icons.tsx'

export type Tone = 'good' | 'warn' | 'bad' | 'neutral'

type StatusBadgeProps = {
  readonly tone: Tone
  readonly icon: Icon
  readonly word: string
  readonly explanation?: string
}

/** A state as icon and word, with its reason and next step in a tooltip that keyboards can reach. */
export function StatusBadge({ tone, icon: Icon, word, explanation }: StatusBadgeProps) {
  // There is one in every row of a list: a tooltip that nobody looks at is not there.
  const [isExplained, setExplained] = useState(false)
  const badge = useRef<HTMLSpanElement>(null)
  const explain = () => setExplained(true)
  const stop = () => setExplained(false)
  return (
    <>
      <span
        ref={badge}
        className={styles['badge']}
        data-tone={tone}
        {...(explanation && { tabIndex: 0, role: 'note' })}
        onMouseEnter={explain}
        onMouseLeave={stop}
        onFocus={explain}
        onBlur={stop}
      >
        <Icon size={13} />
        {word}
        {explanation && <span className="visually-hidden">: {explanation}</span>}
      </span>
      {explanation && isExplained && <Tooltip label={explanation} target={badge} opened />}
    </>
  )
}

type MomentProps = {
  readonly at: string
  /** In few letters, for a narrow column. */
  readonly isShort?: boolean
}

/** A time relative to now; the exact time is in the title and for assistive technology. */
export function Moment({ at, isShort = false }: MomentProps) {
  const { format } = useTranslation()
  const now = useNow()
  return (
    <time dateTime={at} title={format.dateTime(at)}>
      {(isShort ? format.relativeShort : format.relative)(at, now)}
    </time>
  )
}

type ActionMenuProps = {
  /** The item's name, which alone tells one menu from another for screen readers. */
  readonly name: string
  readonly children: ReactNode
}

/** The actions on one item of a list, behind three dots; its children are the menu items. */
export function ActionMenu({ name, children }: ActionMenuProps) {
  const { t } = useTranslation()
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={t('overview.actionsFor', { name })}>
          <MoreIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  )
}

type Amount = string | null | undefined

/** Draws the amounts of one column, `amounts` being all of them, with decimal points below each other. */
export function useMoneyColumn(amounts: readonly Amount[] = []): (amount: Amount) => ReactNode {
  const { money, separators } = useTranslation().format
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

type Priced = Pick<ModelAnswer, 'kind' | 'price'>

/** Draws the prices of the models of one table; a key may name a model that no longer exists. */
export function usePriceCells(models: readonly (Priced | undefined)[] = []) {
  const input = useMoneyColumn(models.map(inputPrice))
  const output = useMoneyColumn(models.map(outputPrice))
  return {
    input: (model: Priced | undefined) => input(inputPrice(model)),
    output: (model: Priced | undefined) => output(outputPrice(model)),
  }
}

function inputPrice(model: Priced | undefined): string | undefined {
  return model?.price?.input
}

/** Embeddings have no output. */
function outputPrice(model: Priced | undefined): string | undefined {
  return model?.kind === 'embedding' ? undefined : model?.price?.output
}

export type Facts = readonly (readonly [name: string, value: ReactNode])[]

type FactListProps = {
  readonly facts: Facts
  /** By default, names and values stand beside each other. */
  readonly className?: string | undefined
}

export function FactList({ facts, className = styles['facts'] }: FactListProps) {
  return (
    <dl className={className}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
