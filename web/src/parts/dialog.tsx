// A dialog that is open while it is rendered. When it closes, the focus returns to what opened it.
import { Modal } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import type { ReactNode, RefObject } from 'react'
import { useTranslation } from '../i18n/use-translation.ts'

type DialogProps = {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
  readonly size?: 'md' | 'xl'
}

export function Dialog({ title, onClose, children, size }: DialogProps) {
  const { t } = useTranslation()
  const root = useRef<HTMLDivElement>(null)
  useReturnedFocus()
  useKeptFocus(root)
  return (
    <Modal
      ref={root}
      opened
      onClose={onClose}
      title={title}
      size={size}
      closeButtonProps={{ 'aria-label': t('dialog.close') }}
    >
      {children}
    </Modal>
  )
}

/** Mantine returns the focus only for dialogs that stay rendered while closed. */
function useReturnedFocus(): void {
  const [opener] = useState(findOpener)
  useEffect(
    () => () => {
      if (opener?.isConnected) opener.focus()
    },
    [opener],
  )
}

/**
 * A pending button is disabled and would lose the focus to the page behind. Park the focus on the dialog, then give it
 * back.
 */
function useKeptFocus(root: RefObject<HTMLDivElement | null>): void {
  const atWork = useRef<Element>(null)
  useEffect(() => {
    const dialog = root.current?.querySelector<HTMLElement>('[role="dialog"]')
    const focused = document.activeElement
    if (focused?.matches(':disabled') && dialog?.contains(focused)) {
      atWork.current = focused
      dialog.focus()
    } else if (focused === dialog && atWork.current instanceof HTMLElement) atWork.current.focus()
  })
}

/** The focused element; for a menu item, which will be gone, the button of its menu. */
function findOpener(): HTMLElement | null {
  const focused = document.activeElement
  const menuButton = focused?.closest('[role="menu"]')?.getAttribute('aria-labelledby')
  const opener = menuButton ? document.getElementById(menuButton) : focused
  return opener instanceof HTMLElement ? opener : null
}
