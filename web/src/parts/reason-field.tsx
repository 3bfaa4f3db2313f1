// The reason for an irreversible action: required, because the audit log keeps it.
import { Textarea } from '@mantine/core'
import type { ReactNode } from 'react'
import { TEXT_LENGTH_MAX } from '../../../src/core/limits.ts'

type ReasonFieldProps = {
  readonly label: string
  readonly description?: string
  readonly error?: ReactNode
  readonly value: string
  readonly onChange: (reason: string) => void
}

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
