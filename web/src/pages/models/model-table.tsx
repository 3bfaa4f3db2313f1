// The models as a table; a row opens into everything known about the model.
import { UnstyledButton } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { ABILITIES } from '../../../../src/core/endpoints.ts'
import type { ModelAnswer } from '../../../../src/admin/contract/models.ts'
import type { Format } from '../../i18n/format.ts'
import type { Translate } from '../../i18n/texts.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { DataTable } from '../../parts/data-table.tsx'
import type { Column, Sort } from '../../parts/data-table.tsx'
import { usePriceCells } from '../../parts/price-cells.ts'
import { HealthBadge } from './health-badge.tsx'
import type { ModelSort } from './models-search.ts'
import styles from './models.module.css'

type ModelTableProps = {
  readonly rows: readonly ModelAnswer[] | undefined
  readonly sort: Sort<ModelSort>
  readonly onSort: (sort: Sort<ModelSort>) => void
  readonly onOpen: (id: string) => void
}

export function ModelTable({ rows, sort, onSort, onOpen }: ModelTableProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const price = usePriceCells(rows)
  return (
    <DataTable
      caption={t('modelsPage.caption')}
      columns={[...aboutColumns(t, onOpen), ...numberColumns({ t, format, price }), keysColumn(t)]}
      rows={rows}
      rowKey={({ id }) => id}
      sort={sort}
      onSort={onSort}
      expectedRows={8}
    />
  )
}

type ModelColumn = Column<ModelAnswer, ModelSort>

function aboutColumns(t: Translate, onOpen: (id: string) => void): readonly ModelColumn[] {
  return [
    {
      id: 'id',
      header: t('usage.group.model'),
      sort: 'id',
      isRowHeader: true,
      card: 'title',
      cell: ({ id, kind }) => (
        <>
          <UnstyledButton className={styles['open']} onClick={() => onOpen(id)}>
            {id}
          </UnstyledButton>
          {kind === 'embedding' && <div className={styles['sub']}>{t(`modelKind.${kind}`)}</div>}
        </>
      ),
    },
    {
      id: 'provider',
      header: t('modelList.provider'),
      sort: 'provider',
      cell: ({ provider, targets }) => (
        <>
          {provider ?? '–'}
          {targets.length > 1 && (
            <div className={styles['sub']}>
              {t('modelsPage.moreTargets', { count: targets.length - 1 })}
            </div>
          )}
        </>
      ),
    },
    {
      id: 'health',
      header: t('modelsPage.health'),
      cell: (model) => <HealthBadge model={model} />,
    },
  ]
}

type NumberColumnOptions = {
  readonly t: Translate
  readonly format: Format
  readonly price: ReturnType<typeof usePriceCells>
}

function numberColumns({ t, format, price }: NumberColumnOptions): readonly ModelColumn[] {
  const tokens = (value: number | null) => (value === null ? '–' : format.compact(value))
  return [
    {
      id: 'input',
      header: t('modelList.input'),
      sort: 'input',
      firstOrder: 'desc',
      align: 'end',
      cell: price.input,
    },
    {
      id: 'output',
      header: t('modelList.output'),
      sort: 'output',
      firstOrder: 'desc',
      align: 'end',
      cell: price.output,
    },
    {
      id: 'context',
      header: t('modelsPage.limits'),
      sort: 'context',
      firstOrder: 'desc',
      align: 'end',
      cell: ({ kind, context, max_output: output }) =>
        kind === 'embedding' || (context === null && output === null)
          ? tokens(context)
          : t('modelsPage.inOut', { input: tokens(context), output: tokens(output) }),
    },
    {
      id: 'abilities',
      header: t('picker.ability'),
      cell: ({ abilities }) => (
        <div className={`${styles['sub']} ${styles['abilityWords']}`}>
          {ABILITIES.filter((ability) => abilities[ability] === true)
            .map((ability) => t(`ability.${ability}`))
            .join(', ') || '–'}
        </div>
      ),
    },
  ]
}

function keysColumn(t: Translate): ModelColumn {
  return {
    id: 'keys',
    header: t('modelsPage.keys'),
    sort: 'keys',
    firstOrder: 'desc',
    align: 'end',
    cell: ({ id, key_count: count }) =>
      count === 0 ? (
        t('modelsPage.noKeys')
      ) : (
        <Link to="/settings/api-access" search={{ model: id }}>
          {t('modelsPage.keyCount', { count })}
        </Link>
      ),
  }
}
