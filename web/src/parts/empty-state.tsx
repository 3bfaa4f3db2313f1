// An empty list: says whether nothing exists yet or nothing matches, and what to do.
import type { ReactNode } from 'react'
import styles from './empty-state.module.css'

type EmptyStateProps = {
  readonly icon: ReactNode
  readonly title: string
  readonly children?: ReactNode
  readonly actions?: ReactNode
}

export function EmptyState({ icon, title, children, actions }: EmptyStateProps) {
  return (
    <div className={styles['empty']}>
      <span className={styles['emptyIcon']}>{icon}</span>
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {actions && <div className={styles['emptyActions']}>{actions}</div>}
    </div>
  )
}
