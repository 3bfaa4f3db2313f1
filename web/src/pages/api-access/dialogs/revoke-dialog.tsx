// Revokes a key permanently. Says what will stop working, requires a reason, and for a key in use its name.
import { Button, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { keyRoutes } from '../../../../../src/admin/contract/keys.ts'
import { usageRoutes } from '../../../../../src/admin/contract/usage.ts'
import { DAY_MS } from '../../../../../src/core/units.ts'
import { call } from '../../../api.ts'
import { useFormat } from '../../../i18n/use-format.ts'
import { useNow } from '../../../i18n/use-now.ts'
import { useTranslation } from '../../../i18n/use-translation.ts'
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx'
import { Notice } from '../../../parts/notice.tsx'
import { ReasonField } from '../../../parts/reason-field.tsx'
import { useSession } from '../../../session.ts'
import { useChange } from '../../../use-change.ts'
import { madeOldByKey } from '../key-in-brief.ts'
import type { KeyInBrief } from '../key-in-brief.ts'
import type { KeyDialogProps } from './dialog-props.ts'

type RevokeDialogProps = KeyDialogProps & { readonly onAction: (action: 'pause') => void }

export function RevokeDialog({ keyInBrief, onClose, onAction }: RevokeDialogProps) {
  const { t } = useTranslation()
  const { id, name } = keyInBrief
  const [reason, setReason] = useState('')
  const [typedName, setTypedName] = useState('')
  const isInUse = useIsInUse(keyInBrief)
  const revoke = useChange(madeOldByKey, {
    change: () => call(keyRoutes.revokeKey, { params: { id }, body: { reason } }),
    said: () => t('revoke.done', { name }),
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      title={t('revoke.title', { name })}
      action={t('revoke.action')}
      isDangerous
      isReady={reason.trim() !== '' && (!isInUse || typedName.trim() === name)}
      onConfirm={() => revoke.mutate()}
      onCancel={onClose}
      isPending={revoke.isPending}
      error={revoke.error}
    >
      <LastUse keyInBrief={keyInBrief} />
      <p>{t('revoke.effect')}</p>
      {keyInBrief.status === 'active' && (
        <p>
          {t('revoke.pauseHint')}{' '}
          <Button size="compact-sm" variant="default" onClick={() => onAction('pause')}>
            {t('revoke.pauseInstead')}
          </Button>
        </p>
      )}
      <ReasonField
        label={t('revoke.reason')}
        description={t('revoke.reasonHint')}
        value={reason}
        onChange={setReason}
      />
      {isInUse && (
        <TextInput
          label={t('revoke.typeName', { name })}
          required
          autoComplete="off"
          value={typedName}
          onChange={({ currentTarget }) => setTypedName(currentTarget.value)}
        />
      )}
    </ConfirmDialog>
  )
}

function useIsInUse({ last_used_at: lastUsedAt }: KeyInBrief): boolean {
  const now = useNow()
  return lastUsedAt !== null && now - Date.parse(lastUsedAt) < DAY_MS
}

function LastUse({ keyInBrief }: Pick<KeyDialogProps, 'keyInBrief'>) {
  const { t } = useTranslation()
  const format = useFormat()
  const now = useNow()
  const isInUse = useIsInUse(keyInBrief)
  const { may } = useSession()
  const { id, last_used_at: lastUsedAt } = keyInBrief
  const usage = useQuery({
    queryKey: ['keys', 'last-day', id],
    queryFn: ({ signal }) => {
      const since = new Date(Date.now() - DAY_MS).toISOString()
      return call(usageRoutes.readKeyUsage, {
        params: { id },
        query: { since, by: 'hour' },
        signal,
      })
    },
    enabled: isInUse && may('usage:read'),
  })
  if (lastUsedAt === null) return <Notice tone="info">{t('revoke.neverUsed')}</Notice>
  const requests = usage.data?.total.requests
  return (
    <Notice tone={isInUse ? 'warn' : 'info'}>
      {t('revoke.lastUsed', { when: format.relative(lastUsedAt, now) })}
      {requests !== undefined &&
        ` ${t('revoke.requestsLastDay', { count: requests, number: format.number(requests) })}`}
    </Notice>
  )
}
