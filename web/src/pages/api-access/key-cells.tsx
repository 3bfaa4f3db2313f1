// The cells of a key's row. Each states its numbers in words; a bar or a colour only repeats them.
import { Popover } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ENDPOINTS } from '../../../../src/core/endpoints.ts'
import type { KeyRow } from '../../../../src/admin/contract/key.ts'
import type { FrameAnswer } from '../../../../src/admin/contract/frame.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { BudgetMeter } from '../../parts/budget-meter.tsx'
import { WarningIcon } from '../../parts/icons.tsx'
import { Meter } from '../../parts/meter.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Sparkline } from '../../parts/sparkline.tsx'
import { keyQuery } from '../../queries.ts'
import styles from './key-cells.module.css'
import { useRateWords } from './rate-words.ts'

type CellProps = { readonly row: KeyRow }

export function NameCell({ row }: CellProps) {
  const { t } = useTranslation()
  const facts = [row.environment, row.owner, t(`mode.${row.mode}`)]
    .filter((fact) => fact !== null)
    .join(' · ')
  return (
    <div className={styles['title']}>
      <Link to="/settings/api-access/$id" params={{ id: row.id }} className={styles['name']}>
        {row.name}
      </Link>
      <code className={styles['sub']}>{row.masked}</code>
      <span className={`${styles['sub']} ${styles['facts']}`} title={facts}>
        {facts}
      </span>
    </div>
  )
}

export function BudgetCell({ row }: CellProps) {
  const { t } = useTranslation()
  const format = useFormat()
  if (row.limit === null)
    return (
      <div className={styles['budget']}>
        {format.money(row.spent)}
        <span className={styles['sub']}>{t('budget.noOwnLimit')}</span>
      </div>
    )
  return (
    <div className={styles['budget']}>
      <span className={styles['amounts']}>
        {t('budget.spentOf', { spent: format.money(row.spent), limit: format.money(row.limit) })}
      </span>
      <BudgetMeter
        label={t('budget.ofKey', { name: row.name })}
        spent={row.spent}
        held={row.held}
        limit={row.limit}
        height={6}
      />
      <span className={styles['sub']}>{t(`periodShort.${row.period}`)}</span>
    </div>
  )
}

export function FrameCell({ row, frame }: CellProps & { readonly frame: FrameAnswer }) {
  const { t } = useTranslation()
  const format = useFormat()
  const percent = format.percent(row.frame_share)
  return (
    <div className={styles['frame']}>
      <span className={styles['amounts']}>{percent}</span>
      <Meter
        label={t('budget.partOfFrame', { name: row.name })}
        valueText={t('budget.share', { percent })}
        max={1}
        tone="calm"
        height={6}
        segments={[
          { kind: 'spent', value: Math.min(row.frame_share, 1) },
          { kind: 'others', value: othersShare(row, frame) },
        ]}
      />
      {row.frame_binds && (
        <span className={styles['warn']}>
          <WarningIcon size={13} />
          {t('budget.frameBinds')}
        </span>
      )}
    </div>
  )
}

function othersShare(row: KeyRow, frame: FrameAnswer): number {
  const all = Number(frame.spent) / Math.max(Number(frame.limit), Number.MIN_VALUE)
  return Math.max(0, Math.min(all, 1) - row.frame_share)
}

export function ModelsCell({ row }: CellProps) {
  const { t } = useTranslation()
  return (
    <>
      <ListPopover label={t('models.count', { count: row.model_count })}>
        <ModelList id={row.id} />
      </ListPopover>
      {row.unavailable_model_count > 0 && (
        <div className={styles['warn']}>
          <WarningIcon size={13} />
          {t('models.unavailable', { count: row.unavailable_model_count })}
        </div>
      )}
    </>
  )
}

function ModelList({ id }: { readonly id: string }) {
  const { t } = useTranslation()
  const key = useQuery(keyQuery(id))
  if (!key.data) return <>{t('loading')}</>
  if (key.data.models.length === 0) return <>{t('models.none')}</>
  return (
    <ul className={styles['popList']}>
      {key.data.models.map((model) => (
        <li key={model}>{model}</li>
      ))}
    </ul>
  )
}

export function LimitsCell({ row }: CellProps) {
  const { t } = useTranslation()
  const rates = useRateWords()(row)
  const all = row.permissions.length === ENDPOINTS.length
  return (
    <div className={styles['limits']}>
      <ListPopover
        label={
          all
            ? t('permissions.all')
            : t('permissions.some', { count: row.permissions.length, of: ENDPOINTS.length })
        }
      >
        <ul className={styles['popList']}>
          {row.permissions.map((endpoint) => (
            <li key={endpoint}>{t(`endpoint.${endpoint}`)}</li>
          ))}
        </ul>
      </ListPopover>
      <span className={`${styles['sub']} ${styles['rates']}`}>{rates ?? t('rates.none')}</span>
    </div>
  )
}

export function CostCell({ row }: CellProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const { days, total } = row.cost_7d
  const summary = t('overview.costSummary', {
    days: days.map((day) => (day === null ? t('noData') : format.money(day))).join(', '),
  })
  return (
    <span className={styles['cost']}>
      <Sparkline values={days.map((day) => Number(day ?? 0))} summary={summary} />
      <span>{format.money(total)}</span>
    </span>
  )
}

export function MomentCell({ at }: { readonly at: string | null }) {
  const { t } = useTranslation()
  if (at === null) return <span className="muted">{t('never')}</span>
  return (
    <span className={styles['moment']}>
      <Moment at={at} />
    </span>
  )
}

type ListPopoverProps = { readonly label: string; readonly children: ReactNode }

/** A few words that open into the whole list. */
function ListPopover({ label, children }: ListPopoverProps) {
  return (
    <Popover withArrow trapFocus returnFocus>
      <Popover.Target>
        <button type="button" className={styles['plain']}>
          {label}
        </button>
      </Popover.Target>
      <Popover.Dropdown tabIndex={0} aria-label={label}>
        {children}
      </Popover.Dropdown>
    </Popover>
  )
}
