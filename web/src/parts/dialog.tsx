// A dialog that is there as long as it is rendered. When it goes, the focus returns to what opened it.
import { Modal } from '@mantine/core'
import { useEffect, useState } from 'react'
import type { ReactNode } from 'react'
import { useTranslation } from '../i18n/use-translation.ts'

type DialogProps = {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
  readonly size?: 'md' | 'xl'
  readonly closeOnClickOutside?: boolean
}

export function Dialog({ title, onClose, children, size, closeOnClickOutside }: DialogProps) {
  const { t } = useTranslation()
  useReturnedFocus()
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      size={size}
      closeOnClickOutside={closeOnClickOutside}
      closeButtonProps={{ 'aria-label': t('dialog.close') }}
    >
      {children}
    </Modal>
  )
}

/** Mantine returns the focus only from dialogs that stay rendered while they are closed. */
function useReturnedFocus(): void {
  const [opener] = useState(findOpener)
  useEffect(
    () => () => {
      if (opener?.isConnected) opener.focus()
    },
    [opener],
  )
}

/** What has the focus; for an item of a menu, which will be gone, the button of the menu. */
function findOpener(): HTMLElement | null {
  const focused = document.activeElement
  const menuButton = focused?.closest('[role="menu"]')?.getAttribute('aria-labelledby')
  const opener = menuButton ? document.getElementById(menuButton) : focused
  return opener instanceof HTMLElement ? opener : null
}
