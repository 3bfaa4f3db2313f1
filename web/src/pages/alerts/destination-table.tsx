// The destinations as a table; the result of a sample shows above it.
import { Button, Group, Stack, Switch } from '@mantine/core'
import { alertRoutes } from '../../../../src/admin/contract/alerts.ts'
import type { DestinationAnswer } from '../../../../src/admin/contract/alerts.ts'
import { call } from '../../api.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { DataTable } from '../../parts/data-table.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { ErrorAlert } from '../../parts/error-alert.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Notice } from '../../parts/notice.tsx'
import { useSession } from '../../session.ts'
import { useChange } from '../../use-change.ts'
import { madeOldByAlerts } from './alert-queries.ts'
import { useAlertWords } from './alert-words.ts'

type DestinationTableProps = {
  readonly rows: readonly DestinationAnswer[] | undefined
  readonly onRemove: (destination: DestinationAnswer) => void
}

export function DestinationTable({ rows, onRemove }: DestinationTableProps) {
  const { t } = useTranslation()
  const { may } = useSession()
  const words = useAlertWords()
  const test = useChange(madeOldByAlerts, {
    change: (id: string) => call(alertRoutes.testDestination, { params: { id } }),
  })
  const columns: readonly Column<DestinationAnswer>[] = [
    {
      id: 'address',
      header: t('alerts.address'),
      isRowHeader: true,
      card: 'title',
      cell: ({ address }) => <span className="break">{address}</span>,
    },
    { id: 'kind', header: t('picker.kind'), cell: ({ kind }) => t(`alerts.kind.${kind}`) },
    {
      id: 'enabled',
      header: t('alerts.enabled'),
      cell: (destination) => <Enabled destination={destination} />,
    },
    {
      id: 'created',
      header: t('detail.created'),
      cell: ({ created_at: at }) => <Moment at={at} />,
    },
  ]
  const actions: Column<DestinationAnswer> = {
    id: 'actions',
    header: t('overview.actions'),
    hideHeader: true,
    align: 'end',
    card: 'plain',
    cell: (destination) => (
      <Actions
        address={destination.address}
        isTesting={test.isPending && test.variables === destination.id}
        onTest={() => test.mutate(destination.id)}
        onRemove={() => onRemove(destination)}
      />
    ),
  }
  return (
    <Stack gap="sm">
      {test.error && <ErrorAlert title={t('alerts.testFailed')} error={test.error} />}
      {test.data && (
        <Notice
          tone={test.data.delivered ? 'good' : 'bad'}
          title={t(test.data.delivered ? 'alerts.testDelivered' : 'alerts.testFailed')}
          announce
        >
          <span className="break">{words.result(test.data)}</span> {t('alerts.testNotLogged')}
        </Notice>
      )}
      <DataTable
        caption={t('alerts.destinations')}
        columns={may('configuration:manage') ? [...columns, actions] : columns}
        rows={rows}
        rowKey={({ id }) => id}
        expectedRows={2}
      />
    </Stack>
  )
}

type ActionsProps = {
  readonly address: string
  readonly isTesting: boolean
  readonly onTest: () => void
  readonly onRemove: () => void
}

function Actions({ address, isTesting, onTest, onRemove }: ActionsProps) {
  const { t } = useTranslation()
  return (
    <Group gap="xs" justify="flex-end">
      <Button
        size="compact-sm"
        variant="default"
        aria-label={t('alerts.testWhat', { address })}
        loading={isTesting}
        onClick={onTest}
      >
        {t('alerts.test')}
      </Button>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={t('alerts.removeWhat', { address })}
        onClick={onRemove}
      >
        {t('alerts.remove')}
      </Button>
    </Group>
  )
}

function Enabled({ destination }: { readonly destination: DestinationAnswer }) {
  const { t } = useTranslation()
  const { may } = useSession()
  const { id, address, enabled } = destination
  const change = useChange(madeOldByAlerts, {
    change: (isOn: boolean) =>
      call(alertRoutes.changeDestination, { params: { id }, body: { enabled: isOn } }),
  })
  if (!may('configuration:manage')) return t(enabled ? 'people.on' : 'people.off')
  return (
    <>
      <Switch
        aria-label={t('alerts.enabledWhat', { address })}
        checked={change.isPending ? change.variables : enabled}
        onChange={({ currentTarget }) => change.mutate(currentTarget.checked)}
      />
      {change.error && <ErrorAlert title={t('dialog.failed')} error={change.error} />}
    </>
  )
}
