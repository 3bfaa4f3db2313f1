// Confirms a bulk change: lists every key with its current value, and afterwards the error of each key that failed.
import { Button, MultiSelect, NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { keyRoutes, type KeyRow } from '../../../../src/admin/contract/keys.ts'
import type { AnswerOf } from '../../../../src/admin/contract/route.ts'
import { OUTSIDE_GROUPS } from '../../base/address.ts'
import { budgetWarning } from '../../base/amounts.ts'
import { call } from '../../base/api.ts'
import { groupsQuery, modelsQuery } from '../../base/queries.ts'
import { useNow } from '../../i18n/format.ts'
import { said, useTranslation } from '../../i18n/i18n.ts'
import { amountProblem, readAmount } from '../../i18n/typed-numbers.ts'
import { useChange, useIdempotencyKey } from '../../parts/changes.tsx'
import { ConfirmDialog, Dialog } from '../../parts/dialogs.tsx'
import { Notice } from '../../parts/notices.tsx'
import { ChangeList } from '../audit/change-list.tsx'
import styles from './bulk-bar.module.css'
import { type BulkAction, type BulkChange, bulkChangeOf, bulkWords } from './bulk-change.ts'
import { madeOldByKey } from './key-words.ts'

type BulkDialogProps = {
  readonly action: BulkAction
  readonly keys: readonly KeyRow[]
  readonly onClose: () => void
  readonly onDone: () => void
}

export function BulkDialog({ action, keys, onClose, onDone }: BulkDialogProps) {
  const words = useTranslation()
  const { t } = words
  const [value, setValue] = useState<readonly string[]>([])
  const [typedCount, setTypedCount] = useState('')
  const keyFor = useIdempotencyKey()
  const change = bulkChangeOf(action, value, words.format.separators)
  const isRevoking = action === 'revoke'
  const isProven = !isRevoking || typedCount.trim() === String(keys.length)
  const { data: groups = [] } = useQuery({ ...groupsQuery, enabled: action === 'group' })
  const groupNames = new Map(groups.map(({ id, name }) => [id, name]))
  const { line, each } = bulkWords(action, keys, { change, words, groupNames })
  const apply = useChange(madeOldByKey, {
    change: (asked: BulkChange) =>
      call(keyRoutes.changeKeys, {
        body: { ids: keys.map(({ id }) => id), change: asked },
        idempotencyKey: keyFor(asked),
      }),
  })
  const close = () => {
    if (apply.data) onDone()
    onClose()
  }
  if (apply.data) return <BulkOutcome results={apply.data.results} onClose={close} />
  return (
    <ConfirmDialog
      title={t(`bulk.${action}.title`, { count: keys.length })}
      action={t(`bulk.${action}.label`)}
      isDangerous={isRevoking}
      isReady={change !== undefined && isProven}
      change={apply}
      onConfirm={() => change && apply.mutate(change)}
      onCancel={onClose}
    >
      <BulkValue action={action} value={value} onChange={setValue} />
      <ChangeList lines={[line]} />
      {/* In the order of Tab, so that a long list can be scrolled by keyboard. */}
      <ul
        className={styles['names']}
        tabIndex={0}
        aria-label={t('bulk.selected', { count: keys.length })}
      >
        {keys.map((key, index) => (
          <li key={key.id} className={styles['key']}>
            <span>
              {key.name} <small>{key.masked}</small>
            </span>
            {each && <small>{each[index]}</small>}
            {isRevoking && <LastUse at={key.last_used_at} />}
          </li>
        ))}
      </ul>
      {isRevoking && (
        <TextInput
          label={t('bulk.revoke.typeCount', { count: keys.length })}
          required
          autoComplete="off"
          inputMode="numeric"
          value={typedCount}
          onChange={({ currentTarget }) => setTypedCount(currentTarget.value)}
        />
      )}
    </ConfirmDialog>
  )
}

/** A key in use is an application that stops. */
function LastUse({ at }: { readonly at: string | null }) {
  const { t, format } = useTranslation()
  const now = useNow()
  return (
    <small className={styles['use']}>
      {at === null
        ? t('revoke.neverUsed')
        : t('revoke.lastUsed', { when: format.relative(at, now) })}
    </small>
  )
}

type BulkValueProps = {
  readonly action: BulkAction
  readonly value: readonly string[]
  readonly onChange: (value: readonly string[]) => void
}

function BulkValue({ action, value, onChange }: BulkValueProps) {
  const words = useTranslation()
  const { t } = words
  const models = useQuery(modelsQuery)
  const [text = ''] = value
  if (action === 'pause' || action === 'resume') return null
  const label = t(`bulk.${action}.field`)
  if (action === 'add_models' || action === 'remove_models')
    return (
      <MultiSelect
        label={label}
        searchable
        required
        data-autofocus
        error={models.isError && t('picker.failed')}
        value={[...value]}
        onChange={onChange}
        data={(models.data ?? []).map(({ id }) => id)}
      />
    )
  if (action === 'group') return <GroupValue label={label} value={text} onChange={onChange} />
  const amount = action === 'budget' ? readAmount(text, words.format.separators) : undefined
  return (
    <TextInput
      label={label}
      description={amount !== undefined && budgetWarning(amount, words)}
      required
      data-autofocus={action !== 'revoke' || undefined}
      type={action === 'expiry' ? 'date' : 'text'}
      inputMode={action === 'budget' ? 'decimal' : undefined}
      leftSection={action === 'budget' && '$'}
      error={action === 'budget' && text !== '' && amountProblem(text, words)}
      value={text}
      onChange={({ currentTarget }) => onChange([currentTarget.value])}
    />
  )
}

type GroupValueProps = {
  readonly label: string
  readonly value: string
  readonly onChange: (value: readonly string[]) => void
}

function GroupValue({ label, value, onChange }: GroupValueProps) {
  const { t } = useTranslation()
  const groups = useQuery(groupsQuery)
  const offered = (groups.data ?? []).filter(({ status }) => status === 'active')
  return (
    <NativeSelect
      label={label}
      required
      data-autofocus
      error={groups.isError && t('groups.failed')}
      value={value}
      onChange={({ currentTarget }) => onChange([currentTarget.value])}
      data={[
        { value: '', label: '' },
        { value: OUTSIDE_GROUPS, label: t('filter.outsideGroups') },
        ...offered.map(({ id, name }) => ({ value: id, label: name })),
      ]}
    />
  )
}

type BulkOutcomeProps = AnswerOf<typeof keyRoutes.changeKeys> & { readonly onClose: () => void }

function BulkOutcome({ results, onClose }: BulkOutcomeProps) {
  const { t } = useTranslation()
  const failed = results.filter(({ error }) => error !== null)
  return (
    <Dialog
      title={t('bulk.outcome')}
      onClose={onClose}
      buttons={<Button onClick={onClose}>{t('dialog.close')}</Button>}
    >
      <Notice tone="good" announce>
        {t('bulk.succeeded', { count: results.length - failed.length })}
      </Notice>
      {failed.length > 0 && (
        <Notice tone="bad" title={t('bulk.failed', { count: failed.length })} announce>
          <ul
            className={styles['names']}
            tabIndex={0}
            aria-label={t('bulk.failed', { count: failed.length })}
          >
            {failed.map(({ id, name, error }) => (
              <li key={id}>
                {name ?? id}: {error && said(error)}
              </li>
            ))}
          </ul>
        </Notice>
      )}
    </Dialog>
  )
}
