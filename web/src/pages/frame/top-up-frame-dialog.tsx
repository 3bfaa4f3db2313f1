// Adds to the frame once, until its period ends.
import { useState } from 'react'
import { frameRoutes } from '../../../../src/admin/contract/frame.ts'
import { call, newIdempotencyKey } from '../../api.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import type { TopUp } from '../../parts/top-up-dialog.tsx'
import { TopUpDialog } from '../../parts/top-up-dialog.tsx'
import { useChange } from '../../use-change.ts'
import { madeOldByFrame } from './made-old.ts'
import type { FrameDialogProps } from './edit-frame-dialog.tsx'

export function TopUpFrameDialog({ frame, onClose }: FrameDialogProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const { limit, resets_at: resetsAt, timezone } = frame
  const [idempotencyKey] = useState(newIdempotencyKey)
  const topUp = useChange(madeOldByFrame, {
    change: (body: TopUp) => call(frameRoutes.topUpFrame, { body, idempotencyKey }),
    said: (changed) =>
      t('topUp.done', { name: t('framePage.name'), limit: format.money(changed.limit) }),
    onDone: onClose,
  })
  const title = t('topUp.title', { name: t('framePage.nameObject') })
  return <TopUpDialog {...{ title, limit, resetsAt, timezone, topUp, onClose }} />
}
