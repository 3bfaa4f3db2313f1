// Confirms an action. The focus starts on Cancel, unless a field takes it first, and the button names the action. A
// running action cannot be cancelled: its answer may carry a secret.
import { Button, Group, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from '../i18n/use-translation.ts'
import { Dialog } from './dialog.tsx'
import { ErrorAlert } from './error-alert.tsx'

type ConfirmDialogProps = {
  readonly title: string
  readonly children: ReactNode
  /** What the button does: "Revoke key", never "OK". */
  readonly action: string
  readonly onConfirm: () => void
  readonly onCancel: () => void
  readonly isDangerous?: boolean
  readonly isReady?: boolean
  readonly isPending?: boolean
  readonly error?: Error | null
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, children, action, onConfirm, onCancel, error } = props
  const { isDangerous = false, isReady = true, isPending = false } = props
  const { t } = useTranslation()
  const cancel = () => {
    if (!isPending) onCancel()
  }
  return (
    <Dialog onClose={cancel} title={title}>
      <Stack>
        {children}
        {error && <ErrorAlert title={t('dialog.failed')} error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={cancel} disabled={isPending} data-autofocus>
            {t('dialog.cancel')}
          </Button>
          <Button
            color={isDangerous ? 'red' : undefined}
            onClick={onConfirm}
            disabled={!isReady}
            loading={isPending}
          >
            {action}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
