// Dialogs: one that is open while it is rendered, one that confirms an action, and those that show something once.
import { Button, Drawer, Group, Modal, Stack, Textarea } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import { type ReactNode, type RefCallback, useEffect, useState } from 'react'
import { TEXT_LENGTH_MAX } from '../../../src/core/limits.ts'
import { unplaced } from '../base/api.ts'
import { useTranslation } from '../i18n/i18n.ts'
import { BusyButton } from './changes.tsx'
import { ErrorAlert } from './notices.tsx'

type ConfirmDialogProps = {
  readonly title: string
  /** What will happen. */
  readonly effect?: string
  readonly children?: ReactNode
  /** What the button does: "Revoke key", never "OK". */
  readonly action: string
  readonly onCancel: () => void
  readonly isDangerous?: boolean
  readonly isReady?: boolean
  /** The fields that show what the gateway says about them. */
  readonly placed?: readonly string[]
} & Confirmed

/** Confirming makes the change, unless `onConfirm` does more than that. */
type Confirmed =
  | { readonly change: Change & { readonly mutate: () => void }; readonly onConfirm?: undefined }
  | { readonly change?: Change; readonly onConfirm: () => void }

type Change = { readonly isPending: boolean; readonly error: Error | null }

/** The focus starts on Cancel or in a field. A running action has no cancel: it may answer with a secret. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, effect, children, action, onCancel, change, placed = [] } = props
  const { isDangerous = false, isReady = true } = props
  const { t } = useTranslation()
  const confirm = props.onConfirm === undefined ? props.change.mutate : props.onConfirm
  const isPending = change?.isPending ?? false
  const error = unplaced(change?.error ?? null, placed)
  const cancel = () => {
    if (!isPending) onCancel()
  }
  return (
    <Dialog
      title={title}
      onClose={cancel}
      buttons={
        <>
          <Button variant="default" onClick={cancel} disabled={isPending} data-autofocus>
            {t('dialog.cancel')}
          </Button>
          <BusyButton
            color={isDangerous ? 'red' : undefined}
            onClick={() => confirm()}
            disabled={!isReady}
            isBusy={isPending}
          >
            {action}
          </BusyButton>
        </>
      }
    >
      {effect && <p>{effect}</p>}
      {children}
      {error && <ErrorAlert title={t('dialog.failed')} error={error} />}
    </Dialog>
  )
}

type DialogProps = {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
  /** At its end. */
  readonly buttons?: ReactNode
  readonly size?: 'md' | 'xl'
}

/** A dialog that is open while it is rendered. When it closes, the focus returns to what opened it. */
export function Dialog({ title, onClose, children, buttons, size }: DialogProps) {
  const { t } = useTranslation()
  return (
    <Modal
      ref={useReturnedFocus()}
      opened
      onClose={onClose}
      title={title}
      size={size}
      closeButtonProps={{ 'aria-label': t('dialog.close') }}
    >
      <Stack>
        {children}
        {buttons && <Group justify="flex-end">{buttons}</Group>}
      </Stack>
    </Modal>
  )
}

type DetailDrawerProps = Pick<DialogProps, 'onClose' | 'children'> & { readonly title: ReactNode }

/** Beside a list: everything about one of its rows. Open while it is rendered, and returns the focus as a dialog does. */
export function DetailDrawer(props: DetailDrawerProps) {
  const { t } = useTranslation()
  return (
    <Drawer
      {...props}
      ref={useReturnedFocus()}
      opened
      position="right"
      size="lg"
      closeButtonProps={{ 'aria-label': t('dialog.close') }}
    />
  )
}

/** For the root of a dialog: Mantine returns the focus only for those that stay rendered while closed. */
function useReturnedFocus(): RefCallback<HTMLElement> {
  const [openers] = useState(findOpeners)
  useEffect(() => () => returnFocus(openers), [openers])
  // Mantine renders the dialog into the page only after its component is mounted.
  return (root) => {
    if (root !== null) openersOf.set(root, openers)
  }
}

/** To the nearest that still takes it, which the menu of a row that was removed does not; at last to the page itself. */
function returnFocus(openers: readonly HTMLElement[]): void {
  for (const place of [...openers, document.getElementById('main')]) {
    place?.focus({ preventScroll: true })
    if (place !== null && place === document.activeElement) return
  }
}

/** By dialog, nearest first. */
const openersOf = new WeakMap<Element, readonly HTMLElement[]>()

/** What has the focus; for a menu item its menu's button, for a button of another dialog what opened that. */
function findOpeners(): readonly HTMLElement[] {
  const focused = document.activeElement
  const menuButton = focused?.closest('[role="menu"]')?.getAttribute('aria-labelledby')
  const opener = menuButton ? document.getElementById(menuButton) : focused
  if (!(opener instanceof HTMLElement) || opener === document.body) return []
  let around: Element | null = opener
  while (around !== null && !openersOf.has(around)) around = around.parentElement
  return [opener, ...((around && openersOf.get(around)) ?? [])]
}

type GuardedDialogProps = Pick<DialogProps, 'title' | 'size' | 'onClose'> & {
  readonly isKept: boolean
  readonly question: {
    readonly title: string
    /** What the reader would have to do without it. */
    readonly loss: string
  }
  /** `close` asks first, too. */
  readonly children: (close: () => void) => ReactNode
}

/** A dialog with something that is never shown again: closing it or leaving the page before it is stored asks first. */
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
          effect={question.loss}
          isDangerous
          onConfirm={isLeaving ? leaving.proceed : onClose}
          onCancel={isLeaving ? leaving.reset : () => setAsking(false)}
        />
      )}
    </>
  )
}

type OnceDialogProps = {
  readonly title: string
  /** What the reader would have to do without it. */
  readonly loss: string
  readonly children: (onCopied: () => void) => ReactNode
  readonly onClose: () => void
}

/** A dialog for something that is shown only once; copying it counts as storing it. */
export function OnceDialog({ title, loss, children, onClose }: OnceDialogProps) {
  const { t } = useTranslation()
  const [isCopied, setCopied] = useState(false)
  const question = { title: t('once.closeTitle'), loss }
  return (
    <GuardedDialog title={title} isKept={isCopied} question={question} onClose={onClose}>
      {(close) => (
        <>
          {children(() => setCopied(true))}
          <Group justify="flex-end">
            <Button onClick={close}>{t('secret.done')}</Button>
          </Group>
        </>
      )}
    </GuardedDialog>
  )
}

type ReasonFieldProps = {
  readonly label: string
  readonly description?: string
  readonly error?: ReactNode
  readonly value: string
  readonly onChange: (reason: string) => void
}

/** The reason for an irreversible action: required, because the audit log keeps it. */
export function ReasonField({ onChange, ...rest }: ReasonFieldProps) {
  return (
    <Textarea
      {...rest}
      required
      maxLength={TEXT_LENGTH_MAX}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  )
}
