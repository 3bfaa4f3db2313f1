// The second factor: codes of an app, required at every sign-in. Turned on in three steps, off with the password.
import { Button, Group } from '@mantine/core'
import { useState } from 'react'
import { profileRoutes } from '../../../../src/admin/contract/profile.ts'
import { call } from '../../api.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { CheckIcon } from '../../parts/icons.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { useChange } from '../../use-change.ts'
import { Card } from './card.tsx'
import { PasswordDialog } from './password-dialog.tsx'
import { RecoveryCodesDialog } from './recovery-codes.tsx'
import { StartTwoFactorDialog } from './start-two-factor-dialog.tsx'

type Open = 'start' | 'end' | 'codes'

export function TwoFactorCard({ isOn }: { readonly isOn: boolean }) {
  const { t } = useTranslation()
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  return (
    <Card
      title={t('profile.twoFactor')}
      about={t('profile.twoFactorAbout')}
      actions={
        isOn && <StatusBadge tone="good" icon={<CheckIcon size={13} />} word={t('people.on')} />
      }
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
