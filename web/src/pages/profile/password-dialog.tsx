// Asks for the password before an action that only the owner may take.
import { useState } from 'react'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { problemOf, unplaced } from '../../parts/field-problem.ts'
import { CurrentPassword } from './current-password.tsx'

type PasswordDialogProps = {
  /** Also the label of the button. */
  readonly title: string
  readonly about: string
  readonly proof: {
    readonly mutate: (password: string) => void
    readonly isPending: boolean
    readonly error: Error | null
  }
  readonly isDangerous?: boolean
  readonly onClose: () => void
}

export function PasswordDialog({ title, about, proof, isDangerous, onClose }: PasswordDialogProps) {
  const [password, setPassword] = useState('')
  return (
    <ConfirmDialog
      title={title}
      action={title}
      isDangerous={isDangerous}
      isReady={password !== ''}
      isPending={proof.isPending}
      error={unplaced(proof.error, ['password'])}
      onConfirm={() => proof.mutate(password)}
      onCancel={onClose}
    >
      <p>{about}</p>
      <CurrentPassword
        isFirst={isDangerous !== true}
        value={password}
        error={problemOf(proof.error, 'password')}
        onType={setPassword}
      />
    </ConfirmDialog>
  )
}
