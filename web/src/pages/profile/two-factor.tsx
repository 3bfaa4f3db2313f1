// The second factor: codes of an app, required at every sign-in. Turned on in three steps, off with the password.
import { Button, Group, TextInput } from '@mantine/core'
import { useMemo, useState } from 'react'
import { encode } from 'uqr'
import { profileRoutes } from '../../../../src/admin/contract/profile.ts'
import { CODE_LENGTH_MAX } from '../../../../src/admin/contract/sign-in.ts'
import { call } from '../../base/api.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { StatusBadge } from '../../parts/cells.tsx'
import { useChange, useFields } from '../../parts/changes.tsx'
import { CopyBlock, CopyButton } from '../../parts/copy.tsx'
import { ConfirmDialog, OnceDialog } from '../../parts/dialogs.tsx'
import { CheckIcon } from '../../parts/icons.tsx'
import { Notice } from '../../parts/notices.tsx'
import { Card, CurrentPassword } from './card.tsx'
import styles from './profile.module.css'

type Open = 'start' | 'end' | 'codes'

export function TwoFactorCard({ isOn }: { readonly isOn: boolean }) {
  const { t } = useTranslation()
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  return (
    <Card
      title={t('profile.twoFactor')}
      about={t('profile.twoFactorAbout')}
      actions={isOn && <StatusBadge tone="good" icon={CheckIcon} word={t('people.on')} />}
    >
      <Group>
        {isOn ? (
          <>
            <Button variant="default" onClick={() => setOpen('codes')}>
              {t('profile.newCodes')}
            </Button>
            <Button variant="default" onClick={() => setOpen('end')}>
              {t('profile.endTwoFactor')}
            </Button>
          </>
        ) : (
          <Button variant="default" onClick={() => setOpen('start')}>
            {t('profile.startTwoFactor')}
          </Button>
        )}
      </Group>
      {open === 'start' && <StartTwoFactorDialog onClose={close} />}
      {open === 'end' && <EndTwoFactorDialog onClose={close} />}
      {open === 'codes' && <NewCodesDialog onClose={close} />}
    </Card>
  )
}

type DialogProps = { readonly onClose: () => void }

function EndTwoFactorDialog({ onClose }: DialogProps) {
  const { t } = useTranslation()
  const end = useChange([['profile']], {
    change: (password: string) => call(profileRoutes.endTwoFactor, { body: { password } }),
    said: () => t('profile.twoFactorEnded'),
    onDone: onClose,
  })
  return (
    <PasswordDialog
      title={t('profile.endTwoFactorTitle')}
      about={t('profile.endTwoFactorAbout')}
      proof={end}
      isDangerous
      onClose={onClose}
    />
  )
}

function NewCodesDialog({ onClose }: DialogProps) {
  const { t } = useTranslation()
  const [codes, setCodes] = useState<readonly string[]>()
  const make = useChange([['profile']], {
    change: (password: string) => call(profileRoutes.newRecoveryCodes, { body: { password } }),
    onAnswer: ({ recovery_codes: made }) => setCodes(made),
  })
  if (codes) return <RecoveryCodesDialog codes={codes} onClose={onClose} />
  return (
    <PasswordDialog
      title={t('profile.newCodes')}
      about={t('profile.newCodesAbout')}
      proof={make}
      onClose={onClose}
    />
  )
}

type Begun = { readonly uri: string; readonly recovery_codes: readonly string[] }

/** Codes are required only after the first correct one, so stopping half way locks nobody out. */
function StartTwoFactorDialog({ onClose }: DialogProps) {
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

type FirstCodeProps = DialogProps & {
  readonly uri: string
  readonly onConfirmed: () => void
}

function FirstCode({ uri, onConfirmed, onClose }: FirstCodeProps) {
  const { t } = useTranslation()
  const { values, text } = useFields({ code: '' })
  const confirm = useChange([['profile']], {
    change: () => call(profileRoutes.confirmTwoFactor, { body: values }),
    said: () => t('profile.twoFactorStarted'),
    onAnswer: onConfirmed,
  })
  const secret = new URL(uri).searchParams.get('secret') ?? ''
  return (
    <ConfirmDialog
      title={t('profile.addApp')}
      action={t('profile.confirmCode')}
      effect={t('profile.addAppAbout')}
      isReady={values.code.trim() !== ''}
      change={confirm}
      placed={['code']}
      onCancel={onClose}
    >
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
        {...text('code', confirm.error)}
      />
    </ConfirmDialog>
  )
}

type RecoveryCodesDialogProps = DialogProps & { readonly codes: readonly string[] }

/** The recovery codes, shown once: each replaces the authenticator for one sign-in. */
function RecoveryCodesDialog({ codes, onClose }: RecoveryCodesDialogProps) {
  const { t } = useTranslation()
  return (
    <OnceDialog title={t('profile.codes')} loss={t('once.codes')} onClose={onClose}>
      {(onCopied) => (
        <>
          <Notice tone="warn" title={t('profile.codesOnce')}>
            {t('profile.codesAbout')}
          </Notice>
          <ul className={styles['codes']} onCopy={onCopied}>
            {codes.map((code) => (
              <li key={code}>
                <code>{code}</code>
              </li>
            ))}
          </ul>
          <div>
            <CopyButton text={codes.join('\n')} label={t('profile.codes')} onCopied={onCopied} />
          </div>
        </>
      )}
    </OnceDialog>
  )
}

/** The white margin in modules, as the standard requires. */
const quiet = 4

/** A QR code as a picture: dark on white in every theme, with the white margin that scanners need. */
function QrPicture({ text, label }: { readonly text: string; readonly label: string }) {
  const { size, data } = useMemo(() => encode(text, { ecc: 'M', border: quiet }), [text])
  const dark = data.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])),
  )
  return (
    <svg
      className={styles['code']}
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={dark.join('')} fill="#000" />
    </svg>
  )
}

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

/** Asks for the password before an action that only the owner may take. */
function PasswordDialog({ title, about, proof, isDangerous, onClose }: PasswordDialogProps) {
  const { values, text } = useFields({ password: '' })
  return (
    <ConfirmDialog
      title={title}
      action={title}
      effect={about}
      isDangerous={isDangerous}
      isReady={values.password !== ''}
      change={proof}
      placed={['password']}
      onConfirm={() => proof.mutate(values.password)}
      onCancel={onClose}
    >
      <CurrentPassword isFirst={isDangerous !== true} {...text('password', proof.error)} />
    </ConfirmDialog>
  )
}
