// Alert destinations: webhooks and e-mail addresses, what each takes, whether it accepts what is sent, and a button that
// sends a sample.
import { Button, Stack, Switch } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { alertRoutes, type DestinationAnswer } from '../../../../src/admin/contract/alerts.ts'
import { call } from '../../base/api.ts'
import { useSession } from '../../base/session.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { StatusBadge } from '../../parts/cells.tsx'
import { BusyButton, useChange } from '../../parts/changes.tsx'
import { actionColumn, type Column, QueryTable } from '../../parts/data-table.tsx'
import { ConfirmDialog } from '../../parts/dialogs.tsx'
import { BellIcon, PlusIcon, WarningIcon } from '../../parts/icons.tsx'
import { ErrorAlert, Notice } from '../../parts/notices.tsx'
import { destinationsQuery, madeOldByAlerts, useAlertWords } from './alert-words.ts'
import styles from './alerts.module.css'
import { DestinationDialog } from './destination-dialog.tsx'

type Open = {
  readonly dialog: 'edit' | 'remove'
  readonly destination: DestinationAnswer
}

export function DestinationList() {
  const { t } = useTranslation()
  const { may } = useSession()
  const answer = useQuery(destinationsQuery)
  const [open, setOpen] = useState<Open | 'new'>()
  const close = () => setOpen(undefined)
  const hasMail = answer.data?.email_available ?? false
  return (
    <section>
      <div className={styles['head']}>
        <h2>{t('alerts.destinations')}</h2>
        {may('configuration:manage', 'everywhere') && (
          <Button variant="default" leftSection={<PlusIcon />} onClick={() => setOpen('new')}>
            {t('alerts.add')}
          </Button>
        )}
      </div>
      <DestinationTable onOpen={setOpen} />
      {open === 'new' && <DestinationDialog isEmailAvailable={hasMail} onClose={close} />}
      {typeof open === 'object' && open.dialog === 'edit' && (
        <DestinationDialog
          isEmailAvailable={hasMail}
          destination={open.destination}
          onClose={close}
        />
      )}
      {typeof open === 'object' && open.dialog === 'remove' && (
        <RemoveDestinationDialog destination={open.destination} onClose={close} />
      )}
    </section>
  )
}

type DestinationTableProps = { readonly onOpen: (open: Open) => void }

function DestinationTable({ onOpen }: DestinationTableProps) {
  const { t } = useTranslation()
  const answer = useQuery(destinationsQuery)
  const { may } = useSession()
  const words = useAlertWords()
  const test = useChange(madeOldByAlerts, {
    change: (id: string) => call(alertRoutes.testDestination, { params: { id } }),
  })
  const name = answer.data?.destinations.find(({ id }) => id === test.variables)?.name ?? ''
  const columns: readonly Column<DestinationAnswer>[] = [
    {
      header: t('column.name'),
      isRowHeader: true,
      cell: (destination) => (
        <>
          <span className="break">{destination.name}</span>
          <div className={`sub ${styles['address'] ?? ''}`}>
            {t(`alerts.kind.${destination.kind}`)} · {destination.address}
          </div>
        </>
      ),
    },
    { header: t('alerts.takes'), cell: (destination) => <Takes destination={destination} /> },
    { header: t('alerts.arrival'), cell: (destination) => <Arrival destination={destination} /> },
    { header: t('alerts.enabled'), cell: (destination) => <Enabled destination={destination} /> },
  ]
  const actions = actionColumn<DestinationAnswer>(
    t,
    (destination) => (
      <Actions
        name={destination.name}
        isTesting={test.isPending && test.variables === destination.id}
        onTest={() => test.mutate(destination.id)}
        onEdit={() => onOpen({ dialog: 'edit', destination })}
        onRemove={() => onOpen({ dialog: 'remove', destination })}
      />
    ),
    'plain',
  )
  return (
    <Stack gap="sm">
      {test.error && <ErrorAlert title={t('alerts.testFailed', { name })} error={test.error} />}
      {test.data && (
        <Notice
          tone={test.data.delivered ? 'good' : 'bad'}
          title={t(test.data.delivered ? 'alerts.testDelivered' : 'alerts.testFailed', { name })}
          announce
        >
          <span className="break">{words.result(test.data)}</span> {t('alerts.testNotLogged')}
        </Notice>
      )}
      <QueryTable
        caption={t('alerts.destinations')}
        columns={may('configuration:manage', 'everywhere') ? [...columns, actions] : columns}
        rows={answer.data?.destinations}
        query={answer}
        failed={t('alerts.failed')}
        none={{
          icon: BellIcon,
          title: t('alerts.noDestinations'),
          about: t('alerts.noDestinationsAbout'),
        }}
        expectedRows={2}
        expectedLines={2}
      />
    </Stack>
  )
}

type DestinationProps = { readonly destination: DestinationAnswer }

/** Everything, or a line for each choice. */
function Takes({ destination }: DestinationProps) {
  const { t } = useTranslation()
  const { kinds, groups, tags, environments } = destination
  const lines = [
    kinds && kinds.map((kind) => t(`alerts.topic.${kind}`)),
    groups && groups.map(({ name }) => t('alerts.ofGroup', { name })),
    tags && tags.map((tag) => t('alerts.ofTag', { tag })),
    environments && environments.map((name) => t('alerts.ofEnvironment', { name })),
  ].filter((line) => line !== null)
  if (lines.length === 0) return t('alerts.takesAll')
  return (
    <ul className={styles['takes']}>
      {lines.map((line) => (
        <li key={line.join()} className="break">
          {line.join(' · ')}
        </li>
      ))}
    </ul>
  )
}

function Arrival({ destination: { failing } }: DestinationProps) {
  const { t, format } = useTranslation()
  const words = useAlertWords()
  if (failing === null) return <span className="muted">{t('alerts.arrives')}</span>
  return (
    <>
      <StatusBadge tone="bad" icon={WarningIcon} word={t('alerts.state.failed')} />
      <div className="sub break">
        {t('alerts.failingSince', { moment: format.dateTime(failing.since) })}{' '}
        {words.result(failing)}
      </div>
    </>
  )
}

type ActionsProps = {
  readonly name: string
  readonly isTesting: boolean
  readonly onTest: () => void
  readonly onEdit: () => void
  readonly onRemove: () => void
}

function Actions({ name, isTesting, onTest, onEdit, onRemove }: ActionsProps) {
  const { t } = useTranslation()
  return (
    <div className={styles['actions']}>
      <BusyButton
        size="compact-sm"
        variant="default"
        aria-label={t('alerts.testWhat', { name })}
        isBusy={isTesting}
        onClick={onTest}
      >
        {t('alerts.test')}
      </BusyButton>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={t('alerts.editWhat', { name })}
        onClick={onEdit}
      >
        {t('action.edit')}
      </Button>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={t('alerts.removeWhat', { name })}
        onClick={onRemove}
      >
        {t('alerts.remove')}
      </Button>
    </div>
  )
}

function Enabled({ destination }: DestinationProps) {
  const { t } = useTranslation()
  const { may } = useSession()
  const { id, name, enabled } = destination
  const change = useChange(madeOldByAlerts, {
    change: (isOn: boolean) =>
      call(alertRoutes.changeDestination, { params: { id }, body: { enabled: isOn } }),
  })
  if (!may('configuration:manage', 'everywhere')) return t(enabled ? 'people.on' : 'people.off')
  return (
    <>
      <Switch
        aria-label={t('alerts.enabledWhat', { name })}
        checked={change.isPending ? change.variables : enabled}
        onChange={({ currentTarget }) => change.mutate(currentTarget.checked)}
      />
      {change.error && <ErrorAlert title={t('dialog.failed')} error={change.error} />}
    </>
  )
}

type RemoveDestinationDialogProps = DestinationProps & { readonly onClose: () => void }

function RemoveDestinationDialog({ destination, onClose }: RemoveDestinationDialogProps) {
  const { t } = useTranslation()
  const { id, name } = destination
  const remove = useChange(madeOldByAlerts, {
    change: () => call(alertRoutes.deleteDestination, { params: { id } }),
    said: () => t('alerts.removed', { name }),
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      title={t('alerts.removeTitle', { name })}
      action={t('alerts.remove')}
      effect={t('alerts.removeEffect')}
      isDangerous
      change={remove}
      onCancel={onClose}
    />
  )
}
