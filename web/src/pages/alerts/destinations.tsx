// Alert destinations: webhooks and e-mail addresses, each with a switch and a button that sends a sample.
import { Button, Group, Radio, Stack, Switch, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { alertRoutes, type DestinationAnswer } from '../../../../src/admin/contract/alerts.ts'
import type { BodyOf } from '../../../../src/admin/contract/route.ts'
import { call, problemOf } from '../../base/api.ts'
import { useSession } from '../../base/session.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { Moment } from '../../parts/cells.tsx'
import { BusyButton, useIdempotencyKey, useChange } from '../../parts/changes.tsx'
import { CopyBlock } from '../../parts/copy.tsx'
import { actionColumn, type Column, QueryTable } from '../../parts/data-table.tsx'
import { ConfirmDialog, OnceDialog } from '../../parts/dialogs.tsx'
import { BellIcon, PlusIcon } from '../../parts/icons.tsx'
import { ErrorAlert, Notice } from '../../parts/notices.tsx'
import { destinationsQuery, madeOldByAlerts, useAlertWords } from './alert-words.ts'
import styles from './alerts.module.css'

export function DestinationList() {
  const { t } = useTranslation()
  const { may } = useSession()
  const answer = useQuery(destinationsQuery)
  const [open, setOpen] = useState<DestinationAnswer | 'new'>()
  const close = () => setOpen(undefined)
  return (
    <section>
      <div className={styles['head']}>
        <h2>{t('alerts.destinations')}</h2>
        {may('configuration:manage') && (
          <Button variant="default" leftSection={<PlusIcon />} onClick={() => setOpen('new')}>
            {t('alerts.add')}
          </Button>
        )}
      </div>
      <DestinationTable onRemove={setOpen} />
      {open === 'new' && (
        <NewDestinationDialog
          isEmailAvailable={answer.data?.email_available ?? false}
          onClose={close}
        />
      )}
      {typeof open === 'object' && <RemoveDestinationDialog destination={open} onClose={close} />}
    </section>
  )
}

type DestinationTableProps = { readonly onRemove: (destination: DestinationAnswer) => void }

function DestinationTable({ onRemove }: DestinationTableProps) {
  const { t } = useTranslation()
  const answer = useQuery(destinationsQuery)
  const { may } = useSession()
  const words = useAlertWords()
  const test = useChange(madeOldByAlerts, {
    change: (id: string) => call(alertRoutes.testDestination, { params: { id } }),
  })
  const address = answer.data?.destinations.find(({ id }) => id === test.variables)?.address ?? ''
  const columns: readonly Column<DestinationAnswer>[] = [
    {
      header: t('alerts.address'),
      isRowHeader: true,
      cell: ({ address }) => <span className="break">{address}</span>,
    },
    { header: t('picker.kind'), cell: ({ kind }) => t(`alerts.kind.${kind}`) },
    { header: t('alerts.enabled'), cell: (destination) => <Enabled destination={destination} /> },
    { header: t('detail.created'), cell: ({ created_at: at }) => <Moment at={at} /> },
  ]
  const actions = actionColumn<DestinationAnswer>(
    t,
    (destination) => (
      <Actions
        address={destination.address}
        isTesting={test.isPending && test.variables === destination.id}
        onTest={() => test.mutate(destination.id)}
        onRemove={() => onRemove(destination)}
      />
    ),
    'plain',
  )
  return (
    <Stack gap="sm">
      {test.error && <ErrorAlert title={t('alerts.testFailed', { address })} error={test.error} />}
      {test.data && (
        <Notice
          tone={test.data.delivered ? 'good' : 'bad'}
          title={t(test.data.delivered ? 'alerts.testDelivered' : 'alerts.testFailed', { address })}
          announce
        >
          <span className="break">{words.result(test.data)}</span> {t('alerts.testNotLogged')}
        </Notice>
      )}
      <QueryTable
        caption={t('alerts.destinations')}
        columns={may('configuration:manage') ? [...columns, actions] : columns}
        rows={answer.data?.destinations}
        query={answer}
        failed={t('alerts.failed')}
        none={{
          icon: BellIcon,
          title: t('alerts.noDestinations'),
          about: t('alerts.noDestinationsAbout'),
        }}
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
      <BusyButton
        size="compact-sm"
        variant="default"
        aria-label={t('alerts.testWhat', { address })}
        isBusy={isTesting}
        onClick={onTest}
      >
        {t('alerts.test')}
      </BusyButton>
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

type DialogProps = { readonly onClose: () => void }
type NewDestinationDialogProps = DialogProps & { readonly isEmailAvailable: boolean }

const kinds = ['webhook', 'email'] as const

/** Adds a webhook or an e-mail address. The secret that signs a webhook is shown here, once. */
function NewDestinationDialog({ isEmailAvailable, onClose }: NewDestinationDialogProps) {
  const { t } = useTranslation()
  const [kind, setKind] = useState<(typeof kinds)[number]>('webhook')
  const [address, setAddress] = useState('')
  const [isTried, setTried] = useState(false)
  const [secret, setSecret] = useState<string>()
  const keyFor = useIdempotencyKey()
  const add = useChange(madeOldByAlerts, {
    change: () => {
      const body: BodyOf<typeof alertRoutes.createDestination> =
        kind === 'webhook' ? { kind, url: address.trim() } : { kind, to: address.trim() }
      return call(alertRoutes.createDestination, { body, idempotencyKey: keyFor(body) })
    },
    said: (made) => t('alerts.added', { address: made.address }),
    onAnswer: (made) => (made.secret === null ? onClose() : setSecret(made.secret)),
  })
  if (secret !== undefined) return <SigningSecret secret={secret} onClose={onClose} />
  return (
    <ConfirmDialog
      title={t('alerts.add')}
      action={t('alerts.add')}
      change={add}
      placed={['url', 'to']}
      onConfirm={() => (address.trim() === '' ? setTried(true) : add.mutate())}
      onCancel={onClose}
    >
      <Radio.Group
        label={t('picker.kind')}
        value={kind}
        onChange={(value) => setKind(kinds.find((each) => each === value) ?? 'webhook')}
      >
        <Stack gap="xs" mt="xs">
          <Radio value="webhook" label={t('alerts.kind.webhook')} />
          <Radio
            value="email"
            label={t('alerts.kind.email')}
            description={isEmailAvailable ? undefined : t('alerts.noMail')}
            disabled={!isEmailAvailable}
          />
        </Stack>
      </Radio.Group>
      <TextInput
        label={t(kind === 'webhook' ? 'alerts.url' : 'signIn.email')}
        description={kind === 'webhook' ? t('alerts.urlAbout') : undefined}
        placeholder={kind === 'webhook' ? 'https://hooks.example.com/tollgate' : 'ann@example.com'}
        required
        data-autofocus
        autoComplete="off"
        value={address}
        error={
          isTried && address.trim() === ''
            ? t('alerts.addressNeeded')
            : problemOf(add.error, kind === 'webhook' ? 'url' : 'to')
        }
        onChange={({ currentTarget }) => setAddress(currentTarget.value)}
      />
    </ConfirmDialog>
  )
}

function SigningSecret({ secret, onClose }: DialogProps & { readonly secret: string }) {
  const { t } = useTranslation()
  return (
    <OnceDialog title={t('alerts.secret')} loss={t('once.signing')} onClose={onClose}>
      {(onCopied) => (
        <>
          <Notice tone="warn" title={t('secret.once')}>
            {t('alerts.secretAbout')}
          </Notice>
          <CopyBlock label={t('alerts.secret')} text={secret} onCopied={onCopied} />
        </>
      )}
    </OnceDialog>
  )
}

type RemoveDestinationDialogProps = DialogProps & { readonly destination: DestinationAnswer }

function RemoveDestinationDialog({ destination, onClose }: RemoveDestinationDialogProps) {
  const { t } = useTranslation()
  const { id, address } = destination
  const remove = useChange(madeOldByAlerts, {
    change: () => call(alertRoutes.deleteDestination, { params: { id } }),
    said: () => t('alerts.removed', { address }),
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      title={t('alerts.removeWhat', { address })}
      action={t('alerts.remove')}
      effect={t('alerts.removeEffect')}
      isDangerous
      change={remove}
      onCancel={onClose}
    />
  )
}
