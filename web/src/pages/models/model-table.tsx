// The models as a table; a row opens into everything known about the model.
import { UnstyledButton } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ModelAnswer } from '../../../../src/admin/contract/gateway.ts'
import { ABILITIES, type Ability } from '../../../../src/core/endpoints.ts'
import type { ModelSort } from '../../base/address.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { StatusBadge, usePriceCells } from '../../parts/cells.tsx'
import { DataTable, type Column, type Sort } from '../../parts/data-table.tsx'
import {
  BanIcon,
  BracesIcon,
  BulbIcon,
  CheckIcon,
  ClockIcon,
  EyeIcon,
  FileIcon,
  type Icon,
  InfoIcon,
  ToolIcon,
  WarningIcon,
} from '../../parts/icons.tsx'
import styles from './models.module.css'
import { useRecentCalls } from './recent-calls.tsx'

type ModelTableProps = {
  readonly rows: readonly ModelAnswer[] | undefined
  readonly sort: Sort<ModelSort>
  readonly onSort: (sort: Sort<ModelSort>) => void
  readonly onOpen: (id: string) => void
}

export function ModelTable({ rows, sort, onSort, onOpen }: ModelTableProps) {
  const { t } = useTranslation()
  return (
    <DataTable
      caption={t('modelsPage.caption')}
      columns={useColumns(rows, onOpen)}
      rows={rows}
      sort={sort}
      onSort={onSort}
      expectedRows={8}
    />
  )
}

function useColumns(
  rows: ModelTableProps['rows'],
  onOpen: (id: string) => void,
): readonly Column<ModelAnswer, ModelSort>[] {
  const { t, format } = useTranslation()
  const price = usePriceCells(rows)
  const recent = useRecentCalls()
  // In full, as in the model's drawer: most are powers of two, which an abbreviation would not tell.
  const tokens = (value: number | null) => (value === null ? '–' : format.number(value))
  return [
    {
      header: t('usage.group.model'),
      sort: 'id',
      isRowHeader: true,
      cell: ({ id, kind }) => (
        <>
          <UnstyledButton className={styles['open']} onClick={() => onOpen(id)}>
            {id}
          </UnstyledButton>
          {kind === 'embedding' && <div className="sub break">{t(`modelKind.${kind}`)}</div>}
        </>
      ),
    },
    {
      header: t('modelList.provider'),
      sort: 'provider',
      cell: ({ provider, targets }) => (
        <>
          {provider ?? '–'}
          {targets.length > 1 && (
            <div className="sub break">
              {t('modelsPage.moreTargets', { count: targets.length - 1 })}
            </div>
          )}
        </>
      ),
    },
    {
      header: t('modelsPage.health'),
      cell: (model) => (
        <>
          <HealthBadge model={model} />
          {recent(model.id)}
        </>
      ),
    },
    { header: t('modelList.input'), sort: 'input', align: 'end', cell: price.input },
    { header: t('modelList.output'), sort: 'output', align: 'end', cell: price.output },
    {
      header: t('modelsPage.limits'),
      sort: 'context',
      align: 'end',
      cell: ({ kind, context, max_output: output }) =>
        kind === 'embedding' || (context === null && output === null)
          ? tokens(context)
          : t('modelsPage.inOut', { input: tokens(context), output: tokens(output) }),
    },
    { header: t('picker.ability'), cell: (model) => <AbilityIcons model={model} /> },
    {
      header: t('modelsPage.keys'),
      sort: 'keys',
      align: 'end',
      cell: (model) => <KeyCount model={model} />,
    },
  ]
}

type ModelProps = { readonly model: ModelAnswer }

const abilityIcons = {
  tools: ToolIcon,
  images: EyeIcon,
  files: FileIcon,
  structured_output: BracesIcon,
  reasoning: BulbIcon,
} as const satisfies Record<Ability, Icon>

/** Each in its own place, so that a column of them can be compared. The drawer of a model spells them out. */
function AbilityIcons({ model: { abilities } }: ModelProps) {
  const { t } = useTranslation()
  if (ABILITIES.every((ability) => abilities[ability] !== true)) return '–'
  return (
    <ul className={styles['abilityIcons']}>
      {ABILITIES.map((ability) => {
        const AbilityIcon = abilityIcons[ability]
        if (abilities[ability] !== true) return <li key={ability} aria-hidden="true" />
        return (
          <li key={ability} title={t(`ability.${ability}`)}>
            <AbilityIcon />
            <span className="visually-hidden">{t(`ability.${ability}`)}</span>
          </li>
        )
      })}
    </ul>
  )
}

function KeyCount({ model: { id, key_count: count } }: ModelProps) {
  const { t } = useTranslation()
  if (count === 0) return t('modelsPage.noKeys')
  return (
    <Link to="/settings/api-access" search={{ model: id }}>
      {t('modelsPage.keyCount', { count })}
    </Link>
  )
}

const looks = {
  uncalled: { tone: 'neutral', icon: InfoIcon },
  answering: { tone: 'good', icon: CheckIcon },
  failing: { tone: 'bad', icon: WarningIcon },
  resting: { tone: 'bad', icon: ClockIcon },
  degraded: { tone: 'warn', icon: WarningIcon },
  unavailable: { tone: 'neutral', icon: BanIcon },
} as const

/** The health of a model, with the reason in a tooltip, and of each of its targets: icon and word. */
export function HealthBadge({ model: { health, reason } }: ModelProps) {
  const { t } = useTranslation()
  return (
    <StatusBadge
      {...looks[health]}
      word={t(`health.${health}.word`)}
      explanation={reason ?? t(`health.${health}.why`)}
    />
  )
}

export function TargetBadge({ target }: { readonly target: ModelAnswer['targets'][number] }) {
  const { standing, failure, rests_until: until } = target
  const { t, format } = useTranslation()
  return (
    <>
      <StatusBadge {...looks[standing]} word={t(`health.${standing}.word`)} />
      {failure !== null && (
        <div className="sub break">
          {failure.code}
          {failure.refusal !== null && `: ${failure.refusal}`}
        </div>
      )}
      {until !== null && (
        <div className="sub break">{t('modelsPage.until', { moment: format.dateTime(until) })}</div>
      )}
    </>
  )
}
