// Turns on the second factor: the password, then the app's secret and its first code, then the recovery codes. Codes
// are required only after the first correct one, so stopping half way locks nobody out.
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { profileRoutes } from '../../../../src/admin/contract/profile.ts'
import { CODE_LENGTH_MAX } from '../../../../src/admin/contract/sign-in.ts'
import { call } from '../../api.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { CopyBlock } from '../../parts/copy-block.tsx'
import { problemOf, unplaced } from '../../parts/field-problem.ts'
import { useChange } from '../../use-change.ts'
import { PasswordDialog } from './password-dialog.tsx'
import { QrPicture } from './qr-picture.tsx'
import { RecoveryCodesDialog } from './recovery-codes.tsx'

type StartTwoFactorDialogProps = { readonly onClose: () => void }
type Begun = { readonly uri: string; readonly recovery_codes: readonly string[] }

export function StartTwoFactorDialog({ onClose }: StartTwoFactorDialogProps) {
  const { t } = useTranslation()
  const [begun, setBegun] = useState<Begun>()
  const [isConfirmed, setConfirmed] = useState(false)
  const start = useChange([], {
    change: (password: string) => call(profileRoutes.startTwoFactor, { body: { password } }),
    onAnswer: setBegun,
  })
  if (begun && isConfirmed)
    return <RecoveryCodesDialog codes={begun.recovery_codes} onClose={onClose} />
  if (begun)
    return <FirstCode uri={begun.uri} onConfirmed={() => setConfirmed(true)} onClose={onClose} />
  return (
    <PasswordDialog
      title={t('profile.startTwoFactorTitle')}
      about={t('profile.startAbout')}
      proof={start}
      onClose={onClose}
    />
  )
}

type FirstCodeProps = StartTwoFactorDialogProps & {
  readonly uri: string
  readonly onConfirmed: () => void
}

function FirstCode({ uri, onConfirmed, onClose }: FirstCodeProps) {
  const { t } = useTranslation()
  const [code, setCode] = useState('')
  const confirm = useChange([['profile']], {
    change: () => call(profileRoutes.confirmTwoFactor, { body: { code } }),
    said: () => t('profile.twoFactorStarted'),
    onAnswer: onConfirmed,
  })
  const secret = new URL(uri).searchParams.get('secret') ?? ''
  return (
    <ConfirmDialog
      title={t('profile.addApp')}
      action={t('profile.confirmCode')}
      isReady={code.trim() !== ''}
      isPending={confirm.isPending}
      error={unplaced(confirm.error, ['code'])}
      onConfirm={() => confirm.mutate()}
      onCancel={onClose}
    >
      <p>{t('profile.addAppAbout')}</p>
      <QrPicture text={uri} label={t('profile.qr')} />
      <p>{t('profile.addByHand')}</p>
      <CopyBlock label={t('profile.appSecret')} text={secret} />
      <p className="muted">
        <a href={uri}>{t('profile.openApp')}</a>
      </p>
      <TextInput
        label={t('signIn.code.app')}
        required
        data-autofocus
        inputMode="numeric"
        autoComplete="one-time-code"
        maxLength={CODE_LENGTH_MAX}
        value={code}
        error={problemOf(confirm.error, 'code')}
        onChange={({ currentTarget }) => setCode(currentTarget.value)}
      />
    </ConfirmDialog>
  )
}
