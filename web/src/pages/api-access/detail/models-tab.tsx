// The key's allowlist: every model it may call, who serves it and what it costs.
import { Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../../../i18n/use-translation.ts'
import { DataTable } from '../../../parts/data-table.tsx'
import type { Column } from '../../../parts/data-table.tsx'
import { EmptyState } from '../../../parts/empty-state.tsx'
import { ErrorAlert } from '../../../parts/error-alert.tsx'
import { CheckIcon, CubeIcon, WarningIcon } from '../../../parts/icons.tsx'
import { usePriceCells } from '../../../parts/price-cells.ts'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { modelsQuery } from '../../../queries.ts'
import type { KeyDetail } from '../../../../../src/admin/contract/key.ts'
import type { ModelAnswer } from '../../../../../src/admin/contract/models.ts'
import type { TabProps } from './requests-tab.tsx'

type Row = { readonly id: string; readonly model: ModelAnswer | undefined }

export function ModelsTab({ detail }: TabProps) {
  const { t } = useTranslation()
  const models = useQuery(modelsQuery)
  const rows = detail.models
    .toSorted()
    .map((id): Row => ({ id, model: models.data?.find((model) => model.id === id) }))
  const price = usePriceCells(rows.map(({ model }) => model))
  if (rows.length === 0)
    return (
      <div className="card">
        <EmptyState icon={<CubeIcon size={22} />} title={t('models.none')} />
      </div>
    )
  const columns: readonly Column<Row>[] = [
    {
      id: 'id',
      header: t('usage.group.model'),
      isRowHeader: true,
      card: 'title',
      cell: ({ id }) => <span className="break">{id}</span>,
    },
    {
      id: 'provider',
      header: t('modelList.provider'),
      cell: ({ model }) => model?.provider ?? '–',
    },
    {
      id: 'kind',
      header: t('picker.kind'),
      cell: ({ model }) => (model ? t(`modelKind.${model.kind}`) : '–'),
    },
    {
      id: 'available',
      header: t('requests.status'),
      cell: (row) => <Availability row={row} detail={detail} />,
    },
    {
      id: 'input',
      header: t('modelList.input'),
      align: 'end',
      cell: ({ model }) => price.input(model),
    },
    {
      id: 'output',
      header: t('modelList.output'),
      align: 'end',
      cell: ({ model }) => price.output(model),
    },
  ]
  return (
    <Stack>
      {models.error && !models.data && (
        <ErrorAlert
          title={t('picker.failed')}
          error={models.error}
          onRetry={() => void models.refetch()}
        />
      )}
      <DataTable
        caption={t('modelList.caption')}
        columns={columns}
        rows={models.isPending ? undefined : rows}
        rowKey={({ id }) => id}
      />
    </Stack>
  )
}

type AvailabilityProps = { readonly row: Row; readonly detail: KeyDetail }

function Availability({ row, detail }: AvailabilityProps) {
  const { t } = useTranslation()
  const model = detail.closest_models[row.id]
  const absence = model === undefined ? t('modelList.gone') : t('modelList.mistyped', { model })
  if (detail.unavailable_models.includes(row.id))
    return (
      <StatusBadge
        tone="warn"
        icon={<WarningIcon size={13} />}
        word={t('health.unavailable.word')}
        explanation={row.model?.reason ?? absence}
      />
    )
  return <StatusBadge tone="good" icon={<CheckIcon size={13} />} word={t('modelList.available')} />
}
