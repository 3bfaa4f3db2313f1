// Adds to a key's budget once, until its period ends.
import { useState } from 'react'
import { keyRoutes } from '../../../../../src/admin/contract/keys.ts'
import { call, newIdempotencyKey } from '../../../api.ts'
import { useFormat } from '../../../i18n/use-format.ts'
import { useTranslation } from '../../../i18n/use-translation.ts'
import type { TopUp } from '../../../parts/top-up-dialog.tsx'
import { TopUpDialog } from '../../../parts/top-up-dialog.tsx'
import { useChange } from '../../../use-change.ts'
import { madeOldByKey } from '../key-in-brief.ts'
import type { KeyDialogProps } from './dialog-props.ts'

export function TopUpKeyDialog({ keyInBrief, onClose }: KeyDialogProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const { id, name, limit, resets_at: resetsAt, timezone } = keyInBrief
  const [idempotencyKey] = useState(newIdempotencyKey)
  const topUp = useChange(madeOldByKey, {
    change: (body: TopUp) => call(keyRoutes.topUpKey, { params: { id }, body, idempotencyKey }),
    said: (key) => t('topUp.done', { name, limit: format.money(key.limit ?? '0') }),
    onDone: onClose,
  })
  const title = t('topUp.title', { name })
  return <TopUpDialog {...{ title, limit: limit ?? '0', resetsAt, timezone, topUp, onClose }} />
}
