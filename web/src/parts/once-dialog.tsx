// Something that is shown this one time: closing before it was copied asks first.
import { Button, Group, Stack } from '@mantine/core'
import { useState } from 'react'
import type { ReactNode } from 'react'
import { useTranslation } from '../i18n/use-translation.ts'
import { ConfirmDialog } from './confirm-dialog.tsx'
import { Dialog } from './dialog.tsx'

type OnceDialogProps = {
  readonly title: string
  /** What would have to be done without it. */
  readonly loss: string
  readonly children: (onCopied: () => void) => ReactNode
  readonly onClose: () => void
}

export function OnceDialog({ title, loss, children, onClose }: OnceDialogProps) {
  const { t } = useTranslation()
  const [isCopied, setCopied] = useState(false)
  const [isAsking, setAsking] = useState(false)
  const close = () => (isCopied ? onClose() : setAsking(true))
  return (
    <>
      <Dialog title={title} onClose={close} closeOnClickOutside={false}>
        <Stack>
          {children(() => setCopied(true))}
          <Group justify="flex-end">
            <Button onClick={close}>{t('secret.done')}</Button>
          </Group>
        </Stack>
      </Dialog>
      {isAsking && (
        <ConfirmDialog
          title={t('once.closeTitle')}
          action={t('secret.closeAction')}
          isDangerous
          onConfirm={onClose}
          onCancel={() => setAsking(false)}
        >
          <p>{loss}</p>
        </ConfirmDialog>
      )}
    </>
  )
}
