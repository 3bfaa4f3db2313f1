// A dialog with something that is never shown again: closing it or leaving the page before it is stored asks first.
import { useBlocker } from '@tanstack/react-router'
import { useState } from 'react'
import type { ReactNode } from 'react'
import { useTranslation } from '../i18n/use-translation.ts'
import { ConfirmDialog } from './confirm-dialog.tsx'
import { Dialog } from './dialog.tsx'

type GuardedDialogProps = {
  readonly title: string
  readonly size?: 'md' | 'xl'
  readonly isKept: boolean
  readonly question: {
    readonly title: string
    /** What the reader would have to do without it. */
    readonly loss: string
  }
  /** `close` asks first, too. */
  readonly children: (close: () => void) => ReactNode
  readonly onClose: () => void
}

export function GuardedDialog(props: GuardedDialogProps) {
  const { title, size, isKept, question, children, onClose } = props
  const { t } = useTranslation()
  const [isAsking, setAsking] = useState(false)
  const close = () => (isKept ? onClose() : setAsking(true))
  const leaving = useBlocker({
    shouldBlockFn: () => !isKept,
    enableBeforeUnload: () => !isKept,
    withResolver: true,
  })
  const isLeaving = leaving.status === 'blocked'
  return (
    <>
      <Dialog title={title} size={size} onClose={close}>
        {children(close)}
      </Dialog>
      {(isAsking || isLeaving) && (
        <ConfirmDialog
          title={question.title}
          action={t('secret.closeAction')}
          isDangerous
          onConfirm={isLeaving ? leaving.proceed : onClose}
          onCancel={isLeaving ? leaving.reset : () => setAsking(false)}
        >
          <p>{question.loss}</p>
        </ConfirmDialog>
      )}
    </>
  )
}
