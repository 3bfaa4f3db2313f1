// Pauses a key; the toast that confirms it offers to resume.
import { Button, Group } from '@mantine/core'
import { keyRoutes } from '../../../../../src/admin/contract/keys.ts'
import { call } from '../../../api.ts'
import { useTranslation } from '../../../i18n/use-translation.ts'
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx'
import { useChange } from '../../../use-change.ts'
import { madeOldByKey, useResume } from '../key-in-brief.ts'
import type { KeyDialogProps } from './dialog-props.ts'

export function PauseDialog({ keyInBrief: { id, name }, onClose }: KeyDialogProps) {
  const { t } = useTranslation()
  const resume = useResume()
  const pause = useChange(madeOldByKey, {
    change: () => call(keyRoutes.pauseKey, { params: { id } }),
    said: () => (
      <Group justify="space-between">
        {t('pause.done', { name })}
        <Button size="compact-sm" variant="default" onClick={() => resume.mutate({ id })}>
          {t('undo')}
        </Button>
      </Group>
    ),
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      title={t('pause.title', { name })}
      action={t('pause.action')}
      onConfirm={() => pause.mutate()}
      onCancel={onClose}
      isPending={pause.isPending}
      error={pause.error}
    >
      <p>{t('pause.effect')}</p>
    </ConfirmDialog>
  )
}
