// A state as icon and word, with its reason and next step in a tooltip that keyboards can reach.
import { Tooltip } from '@mantine/core'
import type { ReactNode } from 'react'
import styles from './status-badge.module.css'

export type Tone = 'good' | 'warn' | 'bad' | 'neutral'

type StatusBadgeProps = {
  readonly tone: Tone
  readonly icon: ReactNode
  readonly word: string
  readonly explanation?: string
}

export function StatusBadge({ tone, icon, word, explanation }: StatusBadgeProps) {
  if (!explanation)
    return (
      <span className={styles['badge']} data-tone={tone}>
        {icon}
        {word}
      </span>
    )
  return (
    <Tooltip label={explanation}>
      <span className={styles['badge']} data-tone={tone} tabIndex={0} role="note">
        {icon}
        {word}
        <span className="visually-hidden">: {explanation}</span>
      </span>
    </Tooltip>
  )
}
