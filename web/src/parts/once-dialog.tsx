// A dialog for something that is shown only once; copying it counts as storing it.
import { Button, Group, Stack } from '@mantine/core'
import { useState } from 'react'
import type { ReactNode } from 'react'
import { useTranslation } from '../i18n/use-translation.ts'
import { GuardedDialog } from './guarded-dialog.tsx'

type OnceDialogProps = {
  readonly title: string
  /** What the reader would have to do without it. */
  readonly loss: string
  readonly children: (onCopied: () => void) => ReactNode
  readonly onClose: () => void
}

export function OnceDialog({ title, loss, children, onClose }: OnceDialogProps) {
  const { t } = useTranslation()
  const [isCopied, setCopied] = useState(false)
  const question = { title: t('once.closeTitle'), loss }
  return (
    <GuardedDialog title={title} isKept={isCopied} question={question} onClose={onClose}>
      {(close) => (
        <Stack>
          {children(() => setCopied(true))}
          <Group justify="flex-end">
            <Button onClick={close}>{t('secret.done')}</Button>
          </Group>
        </Stack>
      )}
    </GuardedDialog>
  )
}
