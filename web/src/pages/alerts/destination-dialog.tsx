// A new alert destination, or another name, another choice of what it takes for one that exists. The secret that signs a
// webhook is shown here, once.
import { MultiSelect, Radio, Stack, TagsInput, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { alertRoutes, type DestinationAnswer } from '../../../../src/admin/contract/alerts.ts'
import type { BodyOf } from '../../../../src/admin/contract/route.ts'
import { ALERT_KINDS } from '../../../../src/core/limits.ts'
import { call, problemOf } from '../../base/api.ts'
import { groupsQuery, labelsQuery } from '../../base/queries.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { useIdempotencyKey, useChange } from '../../parts/changes.tsx'
import { CopyBlock } from '../../parts/copy.tsx'
import { ConfirmDialog, OnceDialog } from '../../parts/dialogs.tsx'
import { Notice } from '../../parts/notices.tsx'
import { madeOldByAlerts } from './alert-words.ts'

type DestinationDialogProps = {
  readonly isEmailAvailable: boolean
  /** Undefined: a new one. */
  readonly destination?: DestinationAnswer
  readonly onClose: () => void
}

const addressKinds = ['webhook', 'email'] as const

type Draft = {
  readonly name: string
  readonly kind: (typeof addressKinds)[number]
  readonly address: string
  /** Empty: all. */
  readonly kinds: readonly string[]
  readonly groups: readonly string[]
  readonly tags: readonly string[]
  readonly environments: readonly string[]
}

type ListName = 'kinds' | 'groups' | 'tags' | 'environments'

function draftOf(destination: DestinationAnswer | undefined): Draft {
  return {
    name: destination?.name ?? '',
    kind: destination?.kind ?? 'webhook',
    address: '',
    kinds: destination?.kinds ?? [],
    groups: destination?.groups?.map(({ id }) => id) ?? [],
    tags: destination?.tags ?? [],
    environments: destination?.environments ?? [],
  }
}

export function DestinationDialog(props: DestinationDialogProps) {
  const { destination, onClose } = props
  const { t } = useTranslation()
  const [draft, setDraft] = useState(() => draftOf(destination))
  const [isTried, setTried] = useState(false)
  const [secret, setSecret] = useState<string>()
  const save = useSaved(draft, { destination, onClose, onSecret: setSecret })
  if (secret !== undefined) return <SigningSecret secret={secret} onClose={onClose} />
  const isNew = destination === undefined
  const isReady = draft.name.trim() !== '' && (!isNew || draft.address.trim() !== '')
  const form = { draft, isTried, error: save.error, onChange: changed }
  const action = isNew ? t('alerts.add') : t('keyForm.save')
  return (
    <ConfirmDialog
      title={isNew ? t('alerts.add') : t('alerts.editWhat', { name: destination.name })}
      action={action}
      change={save}
      placed={['name', 'url', 'to', 'kinds', 'groups', 'tags', 'environments']}
      onConfirm={() => (isReady ? save.mutate() : setTried(true))}
      onCancel={onClose}
    >
      <TextInput
        label={t('column.name')}
        description={t('alerts.nameAbout')}
        required
        data-autofocus
        autoComplete="off"
        value={draft.name}
        error={
          isTried && draft.name.trim() === ''
            ? t('alerts.nameNeeded')
            : problemOf(save.error, 'name')
        }
        onChange={({ currentTarget }) => changed({ name: currentTarget.value })}
      />
      {isNew && <AddressFields {...form} isEmailAvailable={props.isEmailAvailable} />}
      <TakenFields {...form} />
    </ConfirmDialog>
  )

  function changed(change: Partial<Draft>): void {
    setDraft((before) => ({ ...before, ...change }))
  }
}

type Saving = Pick<DestinationDialogProps, 'destination' | 'onClose'> & {
  readonly onSecret: (secret: string) => void
}

function useSaved(draft: Draft, { destination, onClose, onSecret }: Saving) {
  const { t } = useTranslation()
  const keyFor = useIdempotencyKey()
  const taken = {
    name: draft.name.trim(),
    kinds: listOf(ALERT_KINDS.filter((kind) => draft.kinds.includes(kind))),
    groups: listOf(draft.groups),
    tags: listOf(draft.tags),
    environments: listOf(draft.environments),
  }
  return useChange(madeOldByAlerts, {
    change: async () => {
      if (destination !== undefined) {
        const params = { id: destination.id }
        return {
          ...(await call(alertRoutes.changeDestination, { params, body: taken })),
          secret: null,
        }
      }
      const address = draft.address.trim()
      const body: BodyOf<typeof alertRoutes.createDestination> =
        draft.kind === 'webhook'
          ? { ...taken, kind: 'webhook', url: address }
          : { ...taken, kind: 'email', to: address }
      return call(alertRoutes.createDestination, { body, idempotencyKey: keyFor(body) })
    },
    said: ({ name }) => t(destination === undefined ? 'alerts.added' : 'alerts.changed', { name }),
    onAnswer: (made) => (made.secret === null ? onClose() : onSecret(made.secret)),
  })
}

/** Nothing chosen means all of it. */
function listOf<Item>(items: readonly Item[]): Item[] | null {
  return items.length === 0 ? null : [...items]
}

type FieldsProps = {
  readonly draft: Draft
  readonly isTried: boolean
  readonly error: Error | null
  readonly onChange: (change: Partial<Draft>) => void
}

type AddressFieldsProps = FieldsProps & { readonly isEmailAvailable: boolean }

function AddressFields({ draft, isTried, error, onChange, isEmailAvailable }: AddressFieldsProps) {
  const { t } = useTranslation()
  const isWebhook = draft.kind === 'webhook'
  return (
    <>
      <Radio.Group
        label={t('picker.kind')}
        value={draft.kind}
        onChange={(value) =>
          onChange({ kind: addressKinds.find((each) => each === value) ?? 'webhook' })
        }
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
        label={t(isWebhook ? 'alerts.url' : 'signIn.email')}
        description={isWebhook ? t('alerts.urlAbout') : undefined}
        placeholder={isWebhook ? 'https://hooks.example.com/tollgate' : 'ann@example.com'}
        required
        autoComplete="off"
        value={draft.address}
        error={
          isTried && draft.address.trim() === ''
            ? t('alerts.addressNeeded')
            : problemOf(error, isWebhook ? 'url' : 'to')
        }
        onChange={({ currentTarget }) => onChange({ address: currentTarget.value })}
      />
    </>
  )
}

/** What it takes: nothing chosen means everything. */
function TakenFields({ draft, error, onChange }: FieldsProps) {
  const { t } = useTranslation()
  const groups = useQuery(groupsQuery)
  const labels = useQuery(labelsQuery)
  const common = (field: ListName) => ({
    label: t(`alerts.only.${field}`),
    placeholder: draft[field].length === 0 ? t('alerts.any') : undefined,
    error: problemOf(error, field),
    value: [...draft[field]],
    onChange: (value: readonly string[]) => onChange({ [field]: value }),
  })
  return (
    <>
      <MultiSelect
        {...common('kinds')}
        clearable
        clearButtonProps={{ 'aria-label': t('filter.clear', { filter: t('alerts.only.kinds') }) }}
        data={ALERT_KINDS.map((kind) => ({ value: kind, label: t(`alerts.topic.${kind}`) }))}
      />
      {(groups.data ?? []).length > 0 && (
        <MultiSelect
          {...common('groups')}
          searchable
          data={(groups.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
        />
      )}
      <TagsInput {...common('tags')} data={[...(labels.data?.tags ?? [])]} />
      <TagsInput {...common('environments')} data={[...(labels.data?.environments ?? [])]} />
      <p className="muted">{t('alerts.onlyAbout')}</p>
    </>
  )
}

type SigningSecretProps = { readonly secret: string; readonly onClose: () => void }

function SigningSecret({ secret, onClose }: SigningSecretProps) {
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
