// Brief confirmations at the edge of the page: read out, gone after a while, never the only place of an error. A toast
// stays while it is pointed at or focused.
import { CloseButton } from '@mantine/core'
import { useEffect, useState, useSyncExternalStore } from 'react'
import type { ReactNode } from 'react'
import { useTranslation } from '../i18n/use-translation.ts'
import styles from './toasts.module.css'

type Toast = { readonly id: number; readonly message: ReactNode }

const shownMs = 6_000
let toasts: readonly Toast[] = []
let lastId = 0
const listeners = new Set<() => void>()

export function showToast(message: ReactNode): void {
  lastId += 1
  change([...toasts, { id: lastId, message }])
}

export function Toasts() {
  const shown = useSyncExternalStore(listen, () => toasts)
  return (
    <div className={styles['toasts']} role="status">
      {shown.map(({ id, message }) => (
        <ToastView key={id} message={message} onClose={() => close(id)} />
      ))}
    </div>
  )
}

type ToastViewProps = { readonly message: ReactNode; readonly onClose: () => void }

function ToastView({ message, onClose }: ToastViewProps) {
  const { t } = useTranslation()
  const [isKept, setKept] = useState(false)
  useEffect(() => {
    if (isKept) return
    const timer = setTimeout(onClose, shownMs)
    return () => clearTimeout(timer)
    // `onClose` is left out: it changes with every render of the list, but closes the same toast.
  }, [isKept])
  return (
    <div
      className={styles['toast']}
      onPointerEnter={() => setKept(true)}
      onPointerLeave={() => setKept(false)}
      onFocus={() => setKept(true)}
      onBlur={() => setKept(false)}
    >
      <div className={styles['message']}>{message}</div>
      <CloseButton onClick={onClose} aria-label={t('dialog.close')} />
    </div>
  )
}

function close(id: number): void {
  change(toasts.filter((toast) => toast.id !== id))
}

function change(next: readonly Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
