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
  const openers = useReturnedFocus()
  useKeptFocus(root)
  // Mantine renders the dialog into the page only after this component is mounted.
  const keepRoot = (element: HTMLDivElement | null) => {
    root.current = element
    if (element !== null) openersOf.set(element, openers)
  }
  return (
    <Modal
      ref={keepRoot}
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
function useReturnedFocus(): readonly HTMLElement[] {
  const [openers] = useState(findOpeners)
  useEffect(() => () => openers.find(({ isConnected }) => isConnected)?.focus(), [openers])
  return openers
}

/** By dialog, nearest first. */
const openersOf = new WeakMap<Element, readonly HTMLElement[]>()

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

/**
 * The focused element; for a menu item, which will be gone, the button of its menu. A dialog that takes the place of
 * another is opened by a button that will be gone, too: then by what opened the other.
 */
function findOpeners(): readonly HTMLElement[] {
  const focused = document.activeElement
  const menuButton = focused?.closest('[role="menu"]')?.getAttribute('aria-labelledby')
  const opener = menuButton ? document.getElementById(menuButton) : focused
  if (!(opener instanceof HTMLElement)) return []
  let around: Element | null = opener
  while (around !== null && !openersOf.has(around)) around = around.parentElement
  return [opener, ...((around && openersOf.get(around)) ?? [])]
}
