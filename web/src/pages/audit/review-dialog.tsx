// What a form would change, shown before it is saved; and if somebody else was faster, what they changed.
import { Button } from '@mantine/core'
import type { UseMutationResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Conflict } from '../../../../src/admin/contract/errors.ts'
import { ApiError } from '../../base/api.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { ConfirmDialog, Dialog } from '../../parts/dialogs.tsx'
import { Notice } from '../../parts/notices.tsx'
import { type ChangeLine, recordedLine } from './change-lines.ts'
import { ChangeList } from './change-list.tsx'

/** A change, and the version that it is based on. */
export type Reviewed<Change> = { readonly body: Change; readonly version: string }

type ReviewDialogProps<Change> = {
  readonly change: Change
  readonly version: string
  readonly lines: readonly ChangeLine[]
  readonly save: UseMutationResult<unknown, Error, Reviewed<Change>>
  /** What the change would mean, if that is surprising. */
  readonly warning?: ReactNode
  readonly onReload: () => void
  readonly onClose: () => void
}

export function ReviewDialog<Change>(props: ReviewDialogProps<Change>) {
  const { change, version, lines, save, warning, onReload, onClose } = props
  const { t } = useTranslation()
  const conflict = save.error instanceof ApiError ? save.error.conflict : undefined
  if (conflict)
    return (
      <ConflictDialog
        conflict={conflict}
        mine={lines}
        isPending={save.isPending}
        onReload={onReload}
        onApply={() => save.mutate({ body: change, version: conflict.version })}
        onClose={onClose}
      />
    )
  return (
    <ConfirmDialog
      title={t('keyForm.confirmTitle')}
      action={t('keyForm.save')}
      isReady={lines.length > 0}
      change={save}
      onConfirm={() => save.mutate({ body: change, version })}
      onCancel={onClose}
    >
      {warning}
      {lines.length === 0 ? <p>{t('keyForm.noChange')}</p> : <ChangeList lines={lines} />}
    </ConfirmDialog>
  )
}

type ConflictDialogProps = {
  readonly conflict: Conflict
  readonly mine: readonly ChangeLine[]
  readonly isPending: boolean
  readonly onReload: () => void
  readonly onApply: () => void
  readonly onClose: () => void
}

/** Only fields the reader changed are sent, so the others' stay. */
function ConflictDialog(props: ConflictDialogProps) {
  const { conflict, mine, isPending, onReload, onApply, onClose } = props
  const words = useTranslation()
  const { t, format } = words
  return (
    <Dialog
      title={t('conflict.title')}
      onClose={onClose}
      buttons={
        <>
          <Button variant="default" onClick={onReload}>
            {t('conflict.reload')}
          </Button>
          <Button loading={isPending} onClick={onApply}>
            {t('conflict.apply')}
          </Button>
        </>
      }
    >
      <Notice tone="warn" announce>
        {t('conflict.about')}
      </Notice>
      {conflict.changes.map(({ at, actor, fields }) => (
        <section key={at + actor}>
          <h3>{t('conflict.theirs', { actor, when: format.dateTime(at) })}</h3>
          <ChangeList lines={fields.map((field) => recordedLine(field, words))} />
        </section>
      ))}
      <section>
        <h3>{t('conflict.mine')}</h3>
        <ChangeList lines={mine} />
      </section>
    </Dialog>
  )
}
