// A message on the page itself: information, success, a warning or a failure.
import type { ReactNode } from 'react'
import { CheckIcon, InfoIcon, WarningIcon } from './icons.tsx'
import styles from './notice.module.css'

type NoticeTone = 'info' | 'good' | 'warn' | 'bad'

type NoticeProps = {
  readonly tone: NoticeTone
  readonly title?: ReactNode
  readonly children?: ReactNode
  readonly actions?: ReactNode
  /** Read out when it appears; for messages that follow an action of the reader. */
  readonly announce?: boolean
}

const icons = { info: InfoIcon, good: CheckIcon, warn: WarningIcon, bad: WarningIcon }

export function Notice({ tone, title, children, actions, announce = false }: NoticeProps) {
  const Icon = icons[tone]
  const role = tone === 'bad' ? 'alert' : 'status'
  return (
    <div className={styles['notice']} data-tone={tone} role={announce ? role : undefined}>
      <span className={styles['icon']}>
        <Icon />
      </span>
      <div className={styles['body']}>
        {title && <p className={styles['title']}>{title}</p>}
        {children}
        {actions && <div className={styles['actions']}>{actions}</div>}
      </div>
    </div>
  )
}
