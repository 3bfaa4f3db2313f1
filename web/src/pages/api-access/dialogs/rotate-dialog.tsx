// Gives a key a new secret while the old one keeps working for a while; then shows the new one, once.
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { keyRoutes } from '../../../../../src/admin/contract/keys.ts'
import { call, newIdempotencyKey } from '../../../api.ts'
import { useFormat } from '../../../i18n/use-format.ts'
import { useNow } from '../../../i18n/use-now.ts'
import { useTranslation } from '../../../i18n/use-translation.ts'
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx'
import { Notice } from '../../../parts/notice.tsx'
import { useRefreshKeys } from '../key-in-brief.ts'
import { SecretDialog } from '../secret/secret-dialog.tsx'
import type { KeyDialogProps } from './dialog-props.ts'
import { OverlapField } from './overlap-field.tsx'

const usual = 86_400

export function RotateDialog({ keyInBrief, onClose }: KeyDialogProps) {
  const { id, name, masked, old_secret: older } = keyInBrief
  const { t } = useTranslation()
  const format = useFormat()
  const now = useNow()
  const refresh = useRefreshKeys()
  // Undefined while the custom overlap is invalid.
  const [overlap, setOverlap] = useState<number | undefined>(usual)
  const [idempotencyKey] = useState(newIdempotencyKey)
  const rotate = useMutation({
    mutationFn: () =>
      call(keyRoutes.rotateKey, {
        params: { id },
        body: overlap === undefined ? {} : { overlap_seconds: overlap },
        idempotencyKey,
      }),
    // Not awaited: showing the secret must not wait for the lists.
    onSuccess: () => void refresh(),
    // The secret leaves memory with the dialog.
    gcTime: 0,
  })
  if (rotate.data) return <SecretDialog created={rotate.data} reason="rotated" onClose={onClose} />
  return (
    <ConfirmDialog
      title={t('rotate.title', { name })}
      action={t('rotate.action')}
      isReady={overlap !== undefined}
      onConfirm={() => rotate.mutate()}
      onCancel={onClose}
      isPending={rotate.isPending}
      error={rotate.error}
    >
      <p>{t('rotate.effect')}</p>
      {older && <Notice tone="warn">{t('rotate.endsAtOnce', { masked: older.masked })}</Notice>}
      <OverlapField usual={usual} onChange={setOverlap} />
      {overlap !== undefined && (
        <p className="muted" role="status">
          {overlap === 0
            ? t('rotate.endsAtOnce', { masked })
            : t('rotate.worksUntil', {
                masked,
                moment: format.dateTime(new Date(now + overlap * 1000).toISOString()),
              })}
        </p>
      )}
    </ConfirmDialog>
  )
}
